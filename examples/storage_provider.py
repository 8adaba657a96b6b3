#!/usr/bin/env python3
"""The provider of provider.py with filesystems: each is a directory, and is mounted by a link to it where it is wanted.

What is not about filesystems is shared with provider.py, which lies beside this file.
"""
import os, shutil, sys
sys.dont_write_bytecode = True
import provider
from provider import Fault, every, home, read, write

def create_filesystem(effect, size_mib, **_):
    if not 1 <= size_mib <= 1 << 40:
        raise Fault("out-of-range", "a filesystem has 1 MiB to 1 EiB")
    os.makedirs(home(effect) + "/files", exist_ok=True)
    write("filesystem", effect, filesystem_id="directory-" + effect, size_mib=size_mib)

def attach_filesystem(effect, machine_effect, filesystem_effect, read_only, path=None, **_):
    if not read(machine_effect, "machine") or not read(filesystem_effect, "filesystem"):
        raise Fault("not-found", "the machine or the filesystem is not there")
    files = home(filesystem_effect) + "/files"
    if path and not (os.path.islink(path) and os.readlink(path) == files):  # ours already, if we were killed before the end
        if os.path.lexists(path):
            raise Fault("failed-precondition", "there is something at the mount point")
        os.symlink(files, path)
    write("mount", effect, mount_point=path or files, read_only=read_only, link=path,
          machine_effect=machine_effect, filesystem_effect=filesystem_effect)

def unmount(effect):
    mount = read(effect, "mount")
    if mount and mount["link"] and os.path.islink(mount["link"]):
        os.unlink(mount["link"])
    shutil.rmtree(home(effect), ignore_errors=True)

def free(effect, free=provider.free):
    if any(held["filesystem_effect"] == effect for held in every("mount")):
        raise Fault("failed-precondition", "the filesystem is mounted")
    free(effect)

def delete(effect, delete=provider.delete):  # a machine takes its mounts with it
    for held in every("mount"):
        if effect in (held["effect"], held["machine_effect"]):
            unmount(held["effect"])
    delete(effect)

def serve(verb, dash, noun, asked, serve=provider.serve):
    if (verb, noun) in (("attach", "filesystems"), ("detach", "filesystems"), ("lookup", "filesystem-attachments")):
        return {"ok": [provider.guarded(provider.work, verb, "mount", item) for item in asked["items"]]}
    return serve(verb, dash, noun, asked)

provider.MAKE.update(filesystem=create_filesystem, mount=attach_filesystem)
provider.OFFER.update(filesystems=True)
provider.free, provider.delete, provider.serve = free, delete, serve
provider.main()
