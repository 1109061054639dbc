"""Bidirectional LSTMs over sequences of different lengths, for training and without.

Elsewhere than on the CPU, sequences are packed. On the CPU, PyTorch takes time that grows with the square of the length
to learn from packed sequences. There they are padded instead, and the LSTM that reads from the right gets each of them
turned around, so that padding comes last for both.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

# Sequences that differ much in length are not padded to the longest of all, but to the longest of up to so many steps.
GROUPS = (4, 7, 11, 20)


def run(layer: nn.Module, hidden: Tensor, lengths: Tensor) -> Tensor:
    """The states at all steps, zero in padding: from (sequences, steps, features) to (sequences, steps, 2 hidden)."""
    assert isinstance(layer, nn.LSTM)
    if hidden.device.type != "cpu":
        packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
        output: Tensor = pad_packed_sequence(layer(packed)[0], batch_first=True)[0]
        return output
    turn = _turned(lengths, hidden.shape[1])
    forward, backward = _both_ways(layer, hidden, turn)
    states = torch.cat([forward, _take(backward, turn)], dim=-1)
    return states * (torch.arange(hidden.shape[1]) < lengths[:, None])[..., None]


def run_to_the_ends(layer: nn.LSTM, hidden: Tensor, lengths: Tensor) -> Tensor:
    """The states after the last step and, from the right, after the first one: (sequences, 2 hidden)."""
    if hidden.device.type != "cpu":
        packed = pack_padded_sequence(hidden, lengths, batch_first=True, enforce_sorted=False)
        _, (last, _) = layer(packed)  # (2, sequences, hidden)
        return torch.cat([last[0], last[1]], dim=-1)
    order = lengths.argsort(stable=True)
    groups = torch.bucketize(lengths[order], torch.tensor(GROUPS)).bincount().tolist()
    parts = [_ends(layer, hidden[some], lengths[some]) for some in torch.split(order, groups) if len(some)]
    return torch.cat([hidden.new_zeros(0, 2 * layer.hidden_size), *parts])[order.argsort()]


def _ends(layer: nn.LSTM, hidden: Tensor, lengths: Tensor) -> Tensor:
    hidden = hidden[:, : int(lengths.max())]
    sequences, last = torch.arange(len(lengths)), lengths - 1
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

    return states(hidden, weights), states(_take(hidden, turn), turned_weights)


def _turned(lengths: Tensor, steps: int) -> Tensor:
    """Where each step of the turned sequences comes from; padding stays: (sequences, steps)."""
    places = torch.arange(steps).expand(len(lengths), -1)
    return torch.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)


def _take(hidden: Tensor, steps: Tensor) -> Tensor:
    return hidden.gather(1, steps[..., None].expand(-1, -1, hidden.shape[-1]))
