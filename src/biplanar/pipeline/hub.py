"""Models of the Hugging Face hub: downloaded to its cache, listed from there, and uploaded with a card that it reads.

The work is done by `huggingface_hub`, which is imported when a model of the hub is named. A file gets its name when it
is whole, processes wait for each other by locks, and the variables HF_ENDPOINT, HF_HOME, HF_HUB_OFFLINE and HF_TOKEN
hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biplanar import __version__
from biplanar.errors import BiplanarError, FileError, file_errors, first_line, needing
from biplanar.pipeline.card import general_metadata, licence_metadata

if TYPE_CHECKING:
    from huggingface_hub import HfApi

# `owner/name`, of one revision by `owner/name@revision`: a branch, a tag or a commit.
NAME = re.compile(r"(\w[\w.-]*/\w[\w.-]*)(?:@([\w./-]+))?")

LIBRARY: dict[str, Any] = {"library_name": "biplanar", "library_version": __version__}

# Files that every model of this package has.
CONFIG, VOCABULARY = "config.toml", "vocab.json"


def is_hub_name(name: str) -> bool:
    """Whether this may be a model of the hub, and is not a folder."""
    return NAME.fullmatch(name) is not None and not Path(name).exists()


def download(
    name: str,
    revision: str | None = None,
    *,
    cache_dir: str | Path | None = None,
    force_download: bool = False,
    local_files_only: bool = False,
    token: str | bool | None = None,
) -> Path:
    """The folder of a model in the hub's cache, after a download of what is missing there.

    Without a connection, or with `local_files_only`, the model must have been downloaded before.
    """
    with needing("hub", f"{name}: no such folder; a model of the Hugging Face hub"):
        from huggingface_hub import HfApi, errors, snapshot_download
    repository, revision = _split(name, revision)
    cached = None if force_download else _cached(repository, revision, cache_dir)
    if cached is not None and (local_files_only or cached.name == revision):
        return cached
    with _explained(repository, revision):
        if local_files_only:
            raise errors.LocalEntryNotFoundError("not in the cache")
        try:
            commit = _commit(HfApi(token=token, **LIBRARY), repository, revision)
        except (errors.HTTPError, errors.OfflineModeIsEnabled):  # type: ignore[attr-defined]
            if cached is None:
                raise
            return cached
        if cached is not None and cached.name == commit:
            return cached
        options: dict[str, Any] = {"cache_dir": cache_dir, "force_download": force_download, "token": token, **LIBRARY}
        return Path(snapshot_download(repository, revision=revision, **options))


def _cached(repository: str, revision: str | None, cache_dir: str | Path | None) -> Path | None:
    """The folder of a revision in the cache, if all its files are there."""
    from huggingface_hub import get_cached_repo_tree, snapshot_download
    from huggingface_hub.errors import CachedRepoTreeNotFoundError, LocalEntryNotFoundError

    try:
        folder = snapshot_download(repository, revision=revision, cache_dir=cache_dir, local_files_only=True)
        get_cached_repo_tree(repository, revision=Path(folder).name, cache_dir=cache_dir)
    except (CachedRepoTreeNotFoundError, LocalEntryNotFoundError):  # without the list, nobody knows what is missing
        return None
    return Path(folder)


def _commit(api: HfApi, repository: str, revision: str | None) -> str:
    """The commit of a revision on the hub, which must be a model of this package: others may be of any size."""
    info = api.model_info(repository, revision=revision)
    if CONFIG not in {file.rfilename for file in info.siblings or []}:
        raise FileError(f"{repository}: not a model of Biplanar: it has no {CONFIG}")
    return str(info.sha)


def pinned(name: str, folder: Path) -> str:
    """The name by which another process finds the same commit of a model, whose folder this is."""
    return f"{_split(name, None)[0]}@{folder.name}"


def _split(name: str, revision: str | None) -> tuple[str, str | None]:
    match = NAME.fullmatch(name)
    if match is None:
        raise FileError(f"{name}: not the name of a model of the hub, which is owner/name or owner/name@revision")
    return match[1], revision or match[2]


def cached_models() -> dict[str, Path]:
    """The folders of all models in the hub's cache that are of this package, by name and revision."""
    try:
        from huggingface_hub import scan_cache_dir
        from huggingface_hub.errors import CacheNotFound
    except ImportError:
        return {}
    try:
        repositories = [one for one in scan_cache_dir().repos if one.repo_type == "model"]
    except CacheNotFound:
        return {}
    found = {
        f"{repository.repo_id}@{name}": revision.snapshot_path
        for repository in repositories
        for revision in repository.revisions
        for name in sorted(revision.refs) or [revision.commit_hash]
    }
    return {
        name: folder
        for name, folder in sorted(found.items())
        if all((folder / one).exists() for one in (CONFIG, VOCABULARY))
    }


def upload(
    folder: Path,
    card: Path,
    name: str,
    *,
    licence: str | None = None,
    language: str | list[str] | None = None,
    private: bool | None = None,
    revision: str | None = None,
    commit_message: str | None = None,
    token: str | None = None,
) -> str:
    """Upload all files of a folder, and complete the metadata of its card; gives the address of the commit."""
    with needing("hub", "the Hugging Face hub"):
        from huggingface_hub import HfApi
    repository, revision = _split(name, revision)
    _complete_card(card, repository, licence, language)
    api = HfApi(token=token, **LIBRARY)
    with _explained(repository, revision):
        api.create_repo(repository, private=private, exist_ok=True)
        if revision is not None:
            api.create_branch(repository, branch=revision, exist_ok=True)
        message = commit_message or f"A model of Biplanar {__version__}"
        return str(api.upload_folder(repo_id=repository, folder_path=folder, revision=revision, commit_message=message))


def _complete_card(path: Path, repository: str, licence: str | None, language: str | list[str] | None) -> None:
    """Write what the hub wants to know into a card; one without a licence is refused."""
    from huggingface_hub import ModelCard

    try:
        with file_errors(path):
            card: Any = ModelCard(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FileError(f"{path}: the metadata cannot be read ({error})") from error
    given: dict[str, Any] = licence_metadata(licence) if licence is not None else {}
    if language is not None:
        given["language"] = language
    if not (given.get("license") or card.data.license):
        raise BiplanarError(
            f"{repository}: a model is uploaded with its licence only: pass licence='CC BY-SA 4.0', or what it is"
        )
    missing = {key: value for key, value in general_metadata().items() if not card.data.get(key)}
    for key, value in (missing | given).items():
        card.data[key] = value
    if card.data.eval_results:
        card.data.model_name = repository.partition("/")[2]
    card.save(path)


@contextmanager
def _explained(repository: str, revision: str | None) -> Iterator[None]:
    """Turn what can go wrong with the hub into errors of this package."""
    from huggingface_hub import constants, errors

    hub, login = constants.ENDPOINT, "log in by `hf auth login`"
    try:
        yield
    except errors.GatedRepoError as error:
        raise FileError(f"{repository}: ask for access on {hub}/{repository}, then {login}") from error
    except errors.RepositoryNotFoundError as error:
        message = f"no such folder, and no such model on {hub}; if it is private, {login}"
        raise FileError(f"{repository}: {message}") from error
    except errors.RevisionNotFoundError as error:
        raise FileError(f"{repository}: no revision {revision!r} on {hub}") from error
    except (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError) as error:
        message = f"no such folder, and not in the cache ({constants.HF_HUB_CACHE}); downloads are switched off"
        raise FileError(f"{repository}: {message}") from error
    except (errors.HTTPError, errors.XetDownloadError, ValueError) as error:  # type: ignore[attr-defined]
        why = first_line(error.__cause__ or error)
        raise FileError(f"{repository}: the hub ({hub}) cannot be used: {why}") from error
    except OSError as error:
        raise FileError(f"{error.filename or repository}: {error.strerror or first_line(error)}") from error
