# SPDX-License-Identifier: GPL-2.0-only
"""The default ns-3 release of ns3w: downloaded once, verified, unpacked."""

import contextlib
import hashlib
import http
import http.client
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from .console import CACHE, OFFLINE, Failure, locked, say

RELEASE = "3.37"
RELEASE_URL = "https://www.nsnam.org/releases/ns-allinone-3.37.tar.bz2"
RELEASE_DEBIAN = "bookworm"  # its source package ns3 has the same file
RELEASE_SHA256 = "dfa5ca1994ff3dbe1d4b23cef54e05e6079f5707a2ed6055f717bdd5b458c38d"


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def download(url, part):
    """Fetch a URL into a file, continuing what an interrupted download has left of it.

    Raises OSError, with the file kept, if the connection is cut. Removes what cannot be continued.
    """
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        answer = urllib.request.urlopen(request, timeout=15)
    except urllib.error.HTTPError as error:
        if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE or not have:
            raise
        part.unlink()  # as long as the whole or longer, and wrong
        download(url, part)
        return
    with answer:
        have = have if answer.status == http.HTTPStatus.PARTIAL_CONTENT else 0
        length = answer.headers.get("Content-Length")
        size = have + int(length) if length else None
        with open(part, "ab" if have else "wb") as file:
            while block := answer.read(1 << 20):
                have += file.write(block)
                if sys.stderr.isatty():
                    sys.stderr.write(f"\r{have >> 20} MiB ")
    if size is not None and have < size:
        raise ConnectionError(f"the connection was cut after {have} of {size} bytes")


def download_verified(url, part):
    """Fetch the archive into a file. A cut connection is continued as long as it brings something,
    and what turns out wrong after that is fetched once more as a whole."""
    continued = part.exists()
    if continued and sha256(part) == RELEASE_SHA256:
        return
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            download(url, part)
        except (ConnectionError, TimeoutError, http.client.IncompleteRead) as error:
            if not part.exists() or part.stat().st_size <= before:
                raise
            say(f"{error}; continuing")
            continued = True
            continue
        if sha256(part) == RELEASE_SHA256:
            return
        part.unlink()
        if not continued:
            raise OSError("wrong SHA-256")
        continued = False


def download_from_debian(directory):
    """Fetch Debian's source package of ns-3 without changing the system's package lists."""
    if not shutil.which("apt-get"):
        raise OSError("there is no apt-get")
    list_uris = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
    uris = subprocess.run(list_uris, capture_output=True, text=True).stdout.split()
    mirrors = [uri for uri in uris if uri.rstrip("/").endswith("/debian")]
    if not mirrors:
        raise OSError("apt knows no mirror of Debian")
    for name in ("state/lists/partial", "cache/archives/partial", "sources"):
        (directory / name).mkdir(parents=True)
    # Trusted: the SHA-256 of the archive is checked.
    (directory / "sources/ns3.sources").write_text(
        f"Types: deb-src\nURIs: {mirrors[0]}\nSuites: {RELEASE_DEBIAN}\nComponents: main\n"
        "Trusted: yes\n"
    )
    options = {
        "Dir::State": directory / "state",
        "Dir::State::status": "/var/lib/dpkg/status",
        "Dir::Cache": directory / "cache",
        "Dir::Etc::sourcelist": "/dev/null",
        "Dir::Etc::sourceparts": directory / "sources",
    }
    target = directory / "source"
    target.mkdir()
    if os.geteuid() == 0:  # apt fetches as its own user, who must be able to write here
        directory.chmod(0o755)
        with contextlib.suppress(LookupError):
            shutil.chown(target, "_apt")
    apt = ["apt-get"] + [f"-o{key}={value}" for key, value in options.items()]
    for words in (["update"], ["source", "--download-only", "--only-source", "ns3"]):
        done = subprocess.run(
            [*apt, *words], cwd=target, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        if done.returncode:
            reason = (done.stderr.strip() or "no message").splitlines()[-1]
            raise OSError(f"apt-get {words[0]} failed ({done.returncode}): {reason}")
    return next(target.glob("ns3_*.orig.tar.bz2"))


def get_archive():
    """Return the release's archive, from the first source with the right checksum."""
    downloads = CACHE / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    archive = downloads / RELEASE_URL.rsplit("/", 1)[1]
    part = archive.with_suffix(".part")
    if archive.exists() and sha256(archive) == RELEASE_SHA256:
        return archive
    problems = []
    for place in (RELEASE_URL, "Debian's source package"):
        say(f"getting ns-{RELEASE} from {place}")
        try:
            if place == RELEASE_URL:
                download_verified(place, part)
                os.replace(part, archive)
                return archive
            # Not in the cache, where apt's own user may not come. What he owns is copied, then
            # checked.
            with tempfile.TemporaryDirectory(prefix="ns3w-") as directory:
                copy = archive.with_suffix(".debian")
                shutil.copyfile(download_from_debian(Path(directory)), copy)
            if sha256(copy) != RELEASE_SHA256:
                copy.unlink()
                raise OSError("wrong SHA-256")
            os.replace(copy, archive)
            part.unlink(missing_ok=True)
            return archive
        except (OSError, http.client.HTTPException, StopIteration) as error:
            problems.append(f"{place}: {error or 'not found'}")
            say(f"no: {problems[-1]}")
    offline = "no network: " if all(OFFLINE.search(problem) for problem in problems) else ""
    raise Failure(
        f"{offline}could not get ns-{RELEASE}. Put its archive there yourself, as {archive}, or use "
        f"--ns3=wheel, or --ns3=PATH of an ns-3 tree. Tried: {'; '.join(problems)}"
    )


def get_release():
    """Return the directory of the unpacked release; download it if necessary."""
    release = CACHE / f"ns-{RELEASE}"
    if release.exists():
        return release
    with locked(release.name):
        if release.exists():
            return release
        archive = get_archive()
        say(f"unpacking {archive}")
        partial = CACHE / f"unpacking-ns-{RELEASE}"
        shutil.rmtree(partial, ignore_errors=True)
        top = f"ns-allinone-{RELEASE}/ns-{RELEASE}/"
        unneeded = re.compile(r"(doc|src/lte|src/[^/]+/doc)(/|$)")
        with tarfile.open(archive) as tar:
            # Known content, see RELEASE_SHA256; but with the owner and rights of its packer.
            if hasattr(tarfile, "fully_trusted_filter"):
                tar.extraction_filter = tarfile.fully_trusted_filter
            for member in tar:
                member.name = member.name[len(top) :] if member.name.startswith(top) else ""
                if member.name and not unneeded.match(member.name):
                    member.uid, member.gid = os.geteuid(), os.getegid()
                    member.uname = member.gname = ""
                    member.mode &= 0o755
                    tar.extract(member, partial)
        os.replace(partial, release)
        return release
