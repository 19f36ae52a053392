## -*- Mode: python; py-indent-offset: 4; indent-tabs-mode: nil; coding: utf-8; -*-
# SPDX-License-Identifier: GPL-2.0-only

# For ns-3.35, the last release that is built by waf. The lists of files are in CMakeLists.txt.

import re


def read_list(directory, name):
    """Return the entries of set(name ...) in directory's CMakeLists.txt; empty if there is none."""
    text = directory.find_node('CMakeLists.txt').read()
    found = re.search(r'^set\(%s\n(.*?)^\)' % name, text, re.M | re.S)
    return found.group(1).split() if found else []


def build(bld):
    version = bld.path.find_node('VERSION').read().strip()
    module = bld.create_ns3_module('distributed-training', ['core', 'internet', 'network'])
    module.source = read_list(bld.path, 'source_files')
    module.includes = 'model program'  # of private headers
    report = bld.path.find_dir('model/results/report').abspath()
    published = bld.path.find_node('examples/published.toml').abspath()
    module.defines = [
        'DISTRIBUTED_TRAINING_VERSION="%s"' % version,
        'DISTRIBUTED_TRAINING_NS3="%s"' % bld.srcnode.find_node('VERSION').read().strip(),
        'DISTRIBUTED_TRAINING_REPORT="%s"' % report,
        'DISTRIBUTED_TRAINING_PUBLISHED="%s"' % published,
        'NS3_LOG_ENABLE',  # of this module, for --log
    ]
    # Found by the configuration of ns-3's stats module, by pkg-config.
    if not bld.env['SQLITE_STATS']:
        bld.fatal('distributed-training needs SQLite: apt-get install libsqlite3-dev pkg-config')
    module.use.append('SQLITE3')
    if bld.env['ENABLE_MPI']:
        module.use.append('MPI')
    module.lib = ['dl', 'z']

    tests = bld.create_ns3_module_test_library('distributed-training')
    tests.source = read_list(bld.path, 'test_files')
    tests.includes = module.includes

    headers = bld(features='ns3header')
    headers.module = 'distributed-training'
    headers.source = read_list(bld.path, 'header_files')

    if bld.env['ENABLE_EXAMPLES']:
        bld.example_names = read_list(bld.path, 'example_names')
        bld.example_modules = {
            name: read_list(bld.path, name + '_modules') for name in bld.example_names
        }
        bld.recurse('examples')
