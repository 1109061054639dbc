"""Tiny pre-trained encoders with random weights, in folders as the hub has them."""

from __future__ import annotations

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

LETTERS = "abcdefghijklmnopqrstuvwxyz"
SIZES = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}


def write_bert(folder: Path) -> Path:
    """Word pieces of one letter, in lower case, with truncation and padding switched on."""
    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *LETTERS, *(f"##{letter}" for letter in LETTERS), ".", "the"]
    tokenizer = Tokenizer(models.WordPiece({name: at for at, name in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    torch.manual_seed(3)
    config = BertConfig(vocab_size=len(names), max_position_embeddings=64, initializer_range=0.3, **SIZES)
    return _write(folder, BertModel(config), tokenizer)


def write_roberta(folder: Path) -> Path:
    """Byte-level BPE that knows no merge but one, and adds no space of its own before a text."""
    names = ["<s>", "<pad>", "</s>", *sorted(pre_tokenizers.ByteLevel.alphabet()), "Ġt"]
    tokenizer = Tokenizer(models.BPE({name: at for at, name in enumerate(names)}, [("Ġ", "t")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    torch.manual_seed(4)
    config = RobertaConfig(
        vocab_size=len(names), max_position_embeddings=66, pad_token_id=1, initializer_range=0.3, **SIZES
    )
    return _write(folder, RobertaModel(config), tokenizer)


def _write(folder: Path, model: torch.nn.Module, tokenizer: Tokenizer) -> Path:
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder
