from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from biplanar.errors import BiplanarError
from biplanar.tagger.features import RESERVED, Vocabulary
from biplanar.tagger.weights import start_from
from tests.tagger.networks import small_network

SENTENCES = [["A", "cat", "sleeps"], ["Dogs", "bark"]]
TASKS = {
    "plane1": ("_", "<", "/"),
    "deprel": ("root", "nsubj", "det"),
    "feats": ("_", "Case=Nom", "Case=Nom|Number=Sing"),
}
KNOWN = Vocabulary.of(SENTENCES, TASKS, min_form_count=1, min_char_count=1)
OTHER_TASKS = {
    "plane1": ("/", "new", "_"),
    "deprel": ("det", "obj", "root"),
    "feats": ("Number=Sing", "Case=Nom|Number=Sing"),
}
OTHER = Vocabulary.of([["sleeps", "unicorn", "a"]], OTHER_TASKS, min_form_count=1, min_char_count=1)
SWITCHES = {"relation_hidden": 5}


def started(vocabulary: Vocabulary = OTHER, switches: dict[str, object] = SWITCHES):
    source, network = small_network(KNOWN, SWITCHES), small_network(vocabulary, switches)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.fill_(77.0)
    start_from(network, vocabulary, source, KNOWN)
    return network.state_dict(), source.state_dict()


def test_the_same_network_comes_out_for_the_same_vocabulary() -> None:
    found, source = started(KNOWN)
    assert all(torch.equal(found[name], tensor) for name, tensor in source.items())


def test_forms_characters_and_labels_are_found_by_their_names() -> None:
    found, source = started()
    words = found["encoder.word_embedding.weight"], source["encoder.word_embedding.weight"]
    assert torch.equal(words[0][OTHER.form_ids["sleeps"]], words[1][KNOWN.form_ids["sleeps"]])
    assert (words[0][OTHER.form_ids["unicorn"]] == 77).all()
    assert torch.equal(words[0][:RESERVED], words[1][:RESERVED])
    chars = found["encoder.char_embedding.weight"], source["encoder.char_embedding.weight"]
    assert torch.equal(chars[0][OTHER.char_ids["e"]], chars[1][KNOWN.char_ids["e"]])
    for layer in ("outputs.plane1.3.weight", "outputs.plane1.3.bias"):
        assert torch.equal(found[layer][0], source[layer][2])
        assert (found[layer][1] == 77).all()
    assert torch.equal(found["relations.output.weight"][2], source["relations.output.weight"][0])
    assert torch.equal(found["columns.outputs.feats.own.weight"][1], source["columns.outputs.feats.own.weight"][2])
    parts = ["Number=Sing", "Number", "Case=Nom", "Case Number"]  # in the order of the labels
    shared = found["columns.outputs.feats.shared.weight"]
    known = ["_", "Case=Nom", "Case", "Number=Sing", "Case Number"]
    for place, part in enumerate(parts):
        if part in known:
            assert torch.equal(shared[place], source["columns.outputs.feats.shared.weight"][known.index(part)])
        else:
            assert (shared[place] == 77).all()


def test_layers_of_other_sizes_stay_as_they_are() -> None:
    found, source = started(switches=SWITCHES | {"output_hidden": 4})
    assert (found["outputs.plane1.0.weight"] == 77).all()
    assert torch.equal(found["encoder.layers.0.weight_ih_l0"], source["encoder.layers.0.weight_ih_l0"])


def test_a_network_that_fits_nowhere_is_refused() -> None:
    sizes = ("word_dim", "char_hidden", "output_hidden", "relation_hidden", "arc_dim")
    alien = dict.fromkeys(sizes, 3) | {"char_dim": 5, "hidden": 7}
    vocabulary = replace(OTHER, tasks={"x": ("a",), "deprel": ("b",)})
    with pytest.raises(BiplanarError, match="no layer has the same size"):
        started(vocabulary, alien)
