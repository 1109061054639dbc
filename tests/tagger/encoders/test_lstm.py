"""On the CPU, LSTMs go over padded sequences; what they find and learn is what packed ones would."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from biplanar.tagger.encoders.lstm import GROUPS, run, run_to_the_ends

LENGTHS = [[1], [3, 3], [2, 5, 1, 4], [30, 1, 12], [*range(1, 25)], [*GROUPS, *(limit + 1 for limit in GROUPS)]]


@pytest.mark.parametrize("lengths", LENGTHS)
def test_states_and_gradients_are_those_of_packed_sequences(lengths: list[int]) -> None:
    torch.manual_seed(1)
    layer = nn.LSTM(5, 7, batch_first=True, bidirectional=True)
    sizes = torch.tensor(lengths)
    padding = torch.arange(max(lengths)) >= sizes[:, None]
    results = []
    for packed in (True, False):
        torch.manual_seed(2)
        hidden = torch.randn(len(lengths), max(lengths), 5, requires_grad=True)
        if packed:
            output, (last, _) = layer(pack_padded_sequence(hidden, sizes, batch_first=True, enforce_sorted=False))
            states, ends = pad_packed_sequence(output, batch_first=True)[0], torch.cat([last[0], last[1]], dim=-1)
        else:
            states, ends = run(layer, hidden, sizes), run_to_the_ends(layer, hidden, sizes)
        loss = states.square().sum() + ends.sin().sum()
        gradients = torch.autograd.grad(loss, [hidden, *layer.parameters()])
        results.append([states, ends, *gradients])
        assert not states[padding].any()
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def test_no_sequences_have_no_ends() -> None:
    layer = nn.LSTM(5, 7, batch_first=True, bidirectional=True)
    assert run_to_the_ends(layer, torch.zeros(0, 1, 5), torch.zeros(0, dtype=torch.int64)).shape == (0, 14)
