package strangers

import "strings"

// upstreamCheck is a check that upstream's own files name.
func upstreamCheck(file, text, run, ours, note string) Check {
	return Check{File: file, Text: text, Run: run, Ours: ours, Note: note}
}

const (
	cmakeTest = "cmake -S . -B company-build && cmake --build company-build -j2 && ctest --test-dir company-build " +
		"--output-on-failure"
	mesonTest = "meson setup company-build && meson test -C company-build"
)

// DebianSources are the strangers out of Debian's archive.
var DebianSources = []Stranger{
	{
		Name: "cjson", Version: "1.7.15-1+deb12u4", Kind: "C, CMake", Short: true,
		From:   DebianSource{"cjson", "bookworm"},
		Checks: []Check{upstreamCheck("debian/rules", "--buildsystem=cmake", cmakeTest, "ctest", "dh_auto_test runs ctest")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "tinyxml2", Version: "9.0.0+dfsg-3.1", Kind: "C++, CMake",
		From:   DebianSource{"tinyxml2", "bookworm"},
		Checks: []Check{upstreamCheck(".github/workflows/test.yml", "ctest --output-on-failure", cmakeTest, "ctest", "")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "jansson", Version: "2.14-2", Kind: "C, CMake and autotools",
		From: DebianSource{"jansson", "bookworm"},
		Checks: []Check{upstreamCheck(
			".github/workflows/tests.yml", "- run: ctest", cmakeTest, "ctest",
			"their other job is make check of autotools, on the same tests")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "libyaml", Version: "0.2.5-1", Kind: "C, CMake and autotools",
		From: DebianSource{"libyaml", "bookworm"},
		Checks: []Check{upstreamCheck(
			".github/workflows/main.yml", "run: make test", cmakeTest, "ctest|make test",
			"their other job is the same tests by way of autotools")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "libinih", Version: "59-1", Kind: "C, Meson",
		From:   DebianSource{"libinih", "trixie"},
		Checks: []Check{upstreamCheck("debian/control", "meson", mesonTest, "meson test", "dh_auto_test runs meson test")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "hello", Version: "2.10-3", Kind: "C, autotools",
		From:   DebianSource{"hello", "bookworm"},
		Checks: []Check{upstreamCheck("INSTALL", "make check'", "./configure && make check", "make check|make -k check", "")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "lzip", Version: "1.23-5", Kind: "C++, a configure of its own",
		From:   DebianSource{"lzip", "bookworm"},
		Checks: []Check{upstreamCheck("INSTALL", "make check'", "./configure && make check", "make check|make -k check", "")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "figlet", Version: "2.2.5-3", Kind: "C, make", Short: true,
		From: DebianSource{"figlet", "bookworm"},
		Checks: []Check{upstreamCheck(
			"Makefile", "make all check", "make all check", "make all check|make check",
			"the target does not build what it tests")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "http-parser", Version: "2.9.4-5", Kind: "C, make",
		From:   DebianSource{"http-parser", "bookworm"},
		Checks: []Check{upstreamCheck("Makefile", "test: test_g test_fast", "make test", "make test", "")},
		Change: cChange, Check: cCheck,
	},
	{
		Name: "xmltodict", Version: "0.13.0-1.1~deb12u1", Kind: "Python, unittest",
		From: DebianSource{"python-xmltodict", "bookworm"},
		Checks: []Check{upstreamCheck(
			"tox.ini", "commands=nose2", "python3 -m nose2", "nose2|pytest|unittest", "without coverage")},
		Change: []File{
			{"company_clamp.py", `"""Numbers within bounds."""


def clamp(n, low, high):
    """n, or the nearest of low and high when it is beyond them."""
    return max(low, min(n, high))
`},
			{"tests/test_company_clamp.py", `import unittest

from company_clamp import clamp


class ClampTestCase(unittest.TestCase):
    def test_clamp(self):
        self.assertEqual([clamp(n, 1, 9) for n in (0, 5, 10)], [1, 5, 9])
`},
		},
		Check: "python3 -m unittest tests/test_company_clamp.py",
	},
	{
		Name: "fnv", Version: "1.0.7-1", Kind: "Rust, no lock", Short: true,
		From:   DebianCrate{"librust-fnv-dev", "fnv-1.0.7"},
		Checks: []Check{upstreamCheck(".travis.yml", "cargo test --verbose --all", "cargo test --offline", "cargo test", "")},
		Change: rustChange("fnv", "fnv::FnvHashMap::<u8, u8>::default().len() == 0"),
		Check:  "cargo test --offline --test company_empty",
	},
	{
		Name: "strsim", Version: "0.10.0-1", Kind: "Rust, no lock",
		From: DebianCrate{"librust-strsim-dev", "strsim-0.10.0"},
		Checks: []Check{upstreamCheck(
			".github/workflows/ci.yml", "cargo test --verbose", "cargo test --offline", "cargo test", "")},
		Change: rustChange("strsim", `strsim::levenshtein("", "") == 0`), Check: "cargo test --offline --test company_empty",
	},
}

// notHad are the kinds whose source packages were tried, and cannot be had from the
// archive: it gives only a part of them. The last try was on 2026-11-22, each as
// `apt-get source PACKAGE` with the configuration of openApt.
var notHad = []struct {
	language string
	packages []string // with their versions
	instead  string   // what shows the kind
}{
	{
		"Ruby", []string{"rake 13.0.6-3", "ruby-colorize 0.8.1-1.1", "ruby-rack 2.2.22-0+deb12u1", "ruby-rainbow 3.1.1-1",
			"ruby-slop 4.9.1-1", "ruby-tilt 2.0.11-2"},
		"No repository of Ruby is among the strangers; Debian's packages of Ruby have no tests in them, and no registry of " +
			"gems is served. Projects of ours with rspec, minitest and test-unit run in test/attack (TestRunnersOfDebian).",
	},
	{
		"Java", []string{"libcommons-cli-java 1.5.0-1"},
		"Projects of ours with Maven and Gradle run in test/attack.",
	},
	{
		"Python", []string{"python-inflect 2.1.0-4", "python-tabulate 0.8.9-1", "six 1.16.0-4"},
		"xmltodict can be had, and is in the table; what pytest, poetry, uv and pdm make of a project is shown by projects " +
			"of ours.",
	},
}

func init() {
	for i := range DebianSources {
		DebianSources[i].Outside = DebianContainer{}
		if k := DebianSources[i].Kind; strings.HasPrefix(k, "C") {
			DebianSources[i].Blind = "no failing test can be planted into a suite that is a list of programs"
		}
	}
}

// cChange is a function in C and a program that tests it. It is in no list of the
// project: how a test is added differs from project to project.
var cChange = []File{
	{"company_clamp.h", `/* company_clamp is n, or the nearest of low and high when it is beyond them. */
static int company_clamp(int n, int low, int high)
{
    return n < low ? low : n > high ? high : n;
}
`},
	{"company_clamp_check.c", `#include "company_clamp.h"

int main(void)
{
    return company_clamp(5, 1, 9) == 5 && company_clamp(0, 1, 9) == 1 && company_clamp(10, 1, 9) == 9 ? 0 : 1;
}
`},
}

const cCheck = "cc -Wall -o /tmp/company_clamp_check company_clamp_check.c && /tmp/company_clamp_check"

// rustChange is a test of a crate, and a page about it.
func rustChange(crate, holds string) []File {
	return []File{
		{"tests/company_empty.rs", "#[test]\nfn nothing_is_nothing() {\n    assert!(" + holds + ");\n}\n"},
		{"COMPANY.md", "# Tests\n\nWhat " + crate + " makes of nothing has a test.\n"},
	}
}
