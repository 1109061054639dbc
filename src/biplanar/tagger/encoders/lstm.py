"""Bidirectional LSTMs over sequences of different lengths, for training and without.

Sequences on a device whose lengths are on the CPU are packed. What is packed has shapes that depend on the lengths,
which a CUDA graph cannot have, and on the CPU, PyTorch takes time that grows with the square of the length to learn
from it. There sequences are padded instead, and the LSTM that reads from the right gets each of them turned around,
so that padding comes last for both.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# Sequences are padded in groups by their numbers of steps, up to these, not all to the longest.
GROUPS = (4, 7, 11, 20)


def run(layer: nn.Module, hidden: Tensor, lengths: Tensor) -> Tensor:
    """The states at all steps, zero in padding: from (sequences, steps, features) to (sequences, steps, 2 hidden)."""
    assert isinstance(layer, nn.LSTM)
    if hidden.device != lengths.device:
        packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
        output: Tensor = pad_packed_sequence(layer(packed)[0], batch_first=True)[0]
        return output
    turn = _turned(lengths, hidden.shape[1])
    forward, backward = _both_ways(layer, hidden, turn)
    states = torch.cat([forward, _take(backward, turn)], dim=-1)
    return states * (torch.arange(hidden.shape[1], device=lengths.device) < lengths[:, None])[..., None]


def run_to_the_ends(layer: nn.LSTM, hidden: Tensor, lengths: Tensor) -> Tensor:
    """The states after the last step and, from the right, after the first one: (sequences, 2 hidden)."""
    if hidden.device != lengths.device:
        packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = layer(packed)  # (2, sequences, hidden)
        return torch.cat([last[0], last[1]], dim=-1)
    if hidden.device.type != "cpu":
        return _ends(layer, hidden, lengths)
    order = lengths.argsort(stable=True)
    groups = torch.bucketize(lengths[order], torch.tensor(GROUPS)).bincount().tolist()
    parts = [
        _ends(layer, hidden[some, : int(lengths[some].max())], lengths[some])
        for some in torch.split(order, groups)
        if len(some)
    ]
    return torch.cat([hidden.new_zeros(0, 2 * layer.hidden_size), *parts])[order.argsort()]


def _ends(layer: nn.LSTM, hidden: Tensor, lengths: Tensor) -> Tensor:
    sequences, last = torch.arange(len(lengths), device=lengths.device), lengths - 1
    both = _both_ways(layer, hidden, _turned(lengths, hidden.shape[1]))
    return torch.cat([states[sequences, last] for states in both], dim=-1)


def _both_ways(layer: nn.LSTM, hidden: Tensor, turn: Tensor) -> tuple[Tensor, Tensor]:
    """The states of both LSTMs, each in the order in which it reads."""
    named = list(layer.named_parameters())
    weights: list[Tensor] = [parameter for name, parameter in named if "reverse" not in name]
    turned_weights: list[Tensor] = [parameter for name, parameter in named if "reverse" in name]
    start = hidden.new_zeros(1, len(hidden), layer.hidden_size)

    def states(sequences: Tensor, parameters: list[Tensor]) -> Tensor:
        found: Tensor = torch.lstm(sequences, (start, start), parameters, True, 1, 0.0, layer.training, False, True)[0]
        return found

    turned = _take(hidden, turn)
    if hidden.device.type != "cuda":
        return states(hidden, weights), states(turned, turned_weights)
    current, side = torch.cuda.current_stream(hidden.device), _side_stream(hidden.device)
    side.wait_stream(current)
    with torch.cuda.stream(side):
        from_the_right = states(turned, turned_weights)
    from_the_left = states(hidden, weights)
    current.wait_stream(side)
    return from_the_left, from_the_right


@cache
def _side_stream(device: torch.device) -> torch.cuda.Stream:
    """One on which one LSTM runs beside the other."""
    return torch.cuda.Stream(device)  # type: ignore[no-untyped-call]


def _turned(lengths: Tensor, steps: int) -> Tensor:
    """Where each step of the turned sequences comes from; padding stays: (sequences, steps)."""
    places = torch.arange(steps, device=lengths.device).expand(len(lengths), -1)
    return torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)


def _take(hidden: Tensor, steps: Tensor) -> Tensor:
    return hidden.gather(1, steps[..., None].expand(-1, -1, hidden.shape[-1]))
