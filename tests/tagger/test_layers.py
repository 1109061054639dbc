from __future__ import annotations

import torch

from biplanar.tagger.layers import NEVER, BiaffineArcs, SharedDropout, with_one, with_root


class TestSharedDropout:
    def test_a_sentence_loses_the_same_features_in_all_words(self):
        torch.manual_seed(1)
        dropped = SharedDropout(0.5)(torch.ones(20, 7, 30))
        assert set(dropped.unique().tolist()) == {0.0, 2.0}  # what is kept counts for what is lost
        assert torch.equal(dropped, dropped[:, :1].expand(-1, 7, -1))
        assert not torch.equal(dropped[0], dropped[1])

    def test_without_training_or_rate_nothing_is_lost(self):
        hidden = torch.randn(2, 3, 4)
        assert SharedDropout(0.5).eval()(hidden) is hidden
        assert SharedDropout(0.0)(hidden) is hidden


class TestBiaffineArcs:
    MASK = torch.tensor([[True, True, False], [True, True, True]])

    def arcs(self) -> BiaffineArcs:
        torch.manual_seed(2)
        arcs = BiaffineArcs(6, 4, 0.5)
        with torch.no_grad():
            arcs.root.normal_()
            arcs.arc_weight.normal_()
        return arcs.eval()

    def test_padding_is_no_head(self):
        scores = self.arcs()(torch.randn(2, 3, 6), self.MASK)
        assert scores.shape == (2, 3, 4)
        assert (scores == NEVER).tolist() == [[[False, False, False, True]] * 3, [[False] * 4] * 3]

    def test_by_hand(self):
        arcs, hidden = self.arcs(), torch.randn(1, 3, 6)
        scores = arcs(hidden, torch.ones(1, 3, dtype=torch.bool))[0]
        for dependent in range(3):
            for head in range(4):
                of_head = arcs.arc_head(hidden[0, head - 1] if head else arcs.root)
                of_dependent = arcs.arc_dependent(hidden[0, dependent])
                left, right = (torch.nn.functional.leaky_relu(one, 0.1) for one in (of_dependent, of_head))
                expected = torch.cat([left, torch.ones(1)]) @ arcs.arc_weight @ right
                torch.testing.assert_close(scores[dependent, head], expected)


def test_the_root_comes_first() -> None:
    hidden, root = torch.randn(2, 3, 4), torch.randn(4)
    found = with_root(root, hidden)
    assert torch.equal(found[:, 0], root.expand(2, -1))
    assert torch.equal(found[:, 1:], hidden)


def test_one_feature_more() -> None:
    hidden = torch.randn(2, 3, 4)
    found = with_one(hidden)
    assert torch.equal(found[..., :4], hidden)
    assert (found[..., 4] == 1).all()
