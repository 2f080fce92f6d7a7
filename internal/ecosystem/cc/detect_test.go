package cc

import (
	"slices"
	"strings"
	"testing"

	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
)

// detectAll is what is found in these files, by all of the package.
func detectAll(files map[string]string) (t *ecosystem.Tree, found []ecosystem.Component) {
	t = ecosystemtest.Tree(files)
	for _, e := range []ecosystem.Detector{CMake{}, Meson{}, Autotools{}} {
		found = append(found, e.Detect(t, found)...)
	}
	return t, found
}

func TestDetect(t *testing.T) {
	const project = "project(x C)\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  []string // kind, folder, and a part of the test's command or of the lint's
		notes []string // each is part of some note
	}{
		"an option that is on": {map[string]string{
			"CMakeLists.txt": project + "option(X_TESTS \"t\" ON)\nenable_testing()\n"},
			[]string{"cmake||-G Ninja && cmake --build"}, nil},
		"options that are off, and others": {map[string]string{
			"CMakeLists.txt": project +
				"option(WITH_TESTS \"[TEST] with (CMocka)\" OFF)\noption(X_FUZZ_TEST \"f\" OFF)\noption(X_LATEST \"l\" " +
				"OFF)\nadd_test(a a)\n"}, []string{"cmake||-G Ninja -DWITH_TESTS=ON &&"}, nil},
		"an option that leaves tests out": {map[string]string{
			"CMakeLists.txt": project + "option(X_WITHOUT_TESTS \"no tests\" OFF)\nadd_test(a a)\n"},
			[]string{"cmake||-G Ninja && cmake --build"}, nil},
		"an option that has no default": {map[string]string{
			"CMakeLists.txt": project + "option(BUILD_TESTS \"t\")\nadd_test(a a)\n"}, []string{"cmake||-DBUILD_TESTS=ON"}, nil},
		"an option with a condition": {map[string]string{
			"CMakeLists.txt": project +
				"include(CMakeDependentOption)\ncmake_dependent_option(X_BUILD_TESTS \"Build tests\" OFF \"BUILD_TESTING\" " +
				"OFF)\nadd_test(a a)\n"}, []string{"cmake||-G Ninja -DX_BUILD_TESTS=ON &&"}, nil},
		"a condition, and it is on": {map[string]string{
			"CMakeLists.txt": project +
				"cmake_dependent_option(X_TESTS \"t\" ON \"BUILD_TESTING;NOT X_BARE\" OFF)\nadd_test(a a)\n"},
			[]string{"cmake||-G Ninja && "}, nil},
		"an option that depends": {map[string]string{
			"CMakeLists.txt": project + "option(X_TEST \"t\" ${X_MASTER})\nadd_test(a a)\n"},
			[]string{"cmake||-G Ninja && "}, nil},
		"no tests": {map[string]string{"CMakeLists.txt": project},
			[]string{"cmake||cmake -S . -B ../company-build -G Ninja && cmake --build ../company-build -j 2"},
			[]string{"has no tests"}},
		"no tests, and a Makefile": {map[string]string{"CMakeLists.txt": project, "Makefile": "test:\n"}, nil, nil},
		"tests in a comment": {map[string]string{"CMakeLists.txt": project + "# add_test(a a)\n",
			"Makefile": ""}, nil, nil},
		"a part of a project": {map[string]string{"CMakeLists.txt": "add_library(x x.c)\nadd_test(a a)\n"}, nil,
			nil},
		"in a folder": {map[string]string{"lib/core/CMakeLists.txt": project + "add_test(a a)\n",
			"lib/core/sub/CMakeLists.txt": project}, []string{"cmake|lib/core|-B ../../../company-build-lib-core"}, nil},
		"Meson and CMake": {map[string]string{"CMakeLists.txt": project + "add_test(a a)\n",
			"meson.build": "project('x', 'c')\ntest('a', a)\n"}, []string{"cmake||ctest"}, nil},
		"Meson with tests, CMake without": {map[string]string{"CMakeLists.txt": project,
			"meson.build": "project('x', 'c')\ntest('a', a)\n"}, []string{"meson||meson test"}, []string{"b_sanitize"}},
		"a released tree": {map[string]string{"configure.ac": "AC_INIT\nAM_INIT_AUTOMAKE\n",
			"configure": "#!/bin/sh\n", "Makefile.am": "TESTS = a\n"},
			[]string{"autotools||&& sh ./configure && make -j 2 && make -k check"}, []string{"used as they are"}},
		"a script of its own": {map[string]string{"configure": "#!/bin/sh\n",
			"Makefile.in": "all: x\ntest: all\n\t./t\n"}, []string{"autotools||make test"}, nil},
		"a script that is not a build": {map[string]string{"configure": "#!/bin/sh\n"}, nil, nil},
		"a program that is called test": {map[string]string{"meson.build": "project('x', 'c')\nlatest('a')\n"},
			[]string{"meson||meson compile"}, []string{"has no tests"}},
		"GoogleTest": {map[string]string{
			"CMakeLists.txt": project +
				"FetchContent_Declare(googletest\n  GIT_REPOSITORY https://x\n  GIT_TAG " +
				"v1)\nFetchContent_MakeAvailable(googletest)\ngtest_discover_tests(a)\n"},
			[]string{"cmake||-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=/usr/src/googletest"}, nil},
		"what Debian has by the same name": {map[string]string{
			"CMakeLists.txt": project +
				"FetchContent_Declare(fmt URL https://x/fmt.zip)\nFetchContent_MakeAvailable(fmt)\nadd_test(a a)\n"},
			[]string{"cmake||-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS"}, nil},
		"what nobody has": {map[string]string{
			"CMakeLists.txt": project +
				"FetchContent_Declare(mylib GIT_REPOSITORY https://x)\nExternalProject_Add(other URL https://y)\nadd_test(a a)\n"},
			[]string{"cmake||-G Ninja && "},
			[]string{"downloads mylib (FetchContent)", "FETCHCONTENT_SOURCE_DIR_MYLIB",
				"downloads other (ExternalProject_Add)"}},
		"what lies in the repository": {map[string]string{
			"CMakeLists.txt": project + "FetchContent_Declare(mylib SOURCE_DIR ${CMAKE_SOURCE_DIR}/mylib)\nadd_test(a a)\n"},
			[]string{"cmake||-G Ninja && "}, nil},
		"a wrap, and one that Debian knows": {map[string]string{"meson.build": "project('x', 'c')\ntest('a', a)\n",
			"subprojects/nowhere.wrap": "[wrap-file]\nsource_url = https://x\n",
			"subprojects/zlib.wrap":    "[wrap-git]\nurl = https://x\n"}, []string{"meson||meson test"},
			[]string{"subproject nowhere"}},
		"a sanitizer": {map[string]string{
			"CMakeLists.txt": project + "option(ENABLE_ASAN \"a\" OFF)\nadd_test(a a)\n"}, []string{"cmake||-G Ninja && "},
			[]string{"-DENABLE_ASAN=ON && cmake --build"}},
		"a sanitizer, of several": {map[string]string{
			"CMakeLists.txt": project +
				"option(NO_ASAN \"n\" OFF)\noption(SANITIZE_MEMORY \"m\" OFF)\noption(SANITIZE_UNDEFINED \"u\" OFF)\nadd_test(a " +
				"a)\n"}, []string{"cmake||-G Ninja && "}, []string{"-DSANITIZE_UNDEFINED=ON && cmake --build"}},
		"a sanitizer that is turned off": {map[string]string{
			"CMakeLists.txt": project + "option(X_DISABLE_ASAN \"n\" OFF)\nadd_test(a a)\n"},
			[]string{"cmake||-G Ninja && "}, nil},
		"a sanitizer of configure": {map[string]string{
			"configure.ac": "AC_INIT\nAM_INIT_AUTOMAKE\nAC_ARG_ENABLE([debug], x)\nAC_ARG_ENABLE([asan],\n  " +
				"[AS_HELP_STRING([--enable-asan], [x])])\n", "Makefile.am": "TESTS = a\n"},
			[]string{"autotools||&& ./configure && make"},
			[]string{"autoreconf -fi && ./configure --enable-asan && make -j 2 && make -k check VERBOSE=1"}},
		"one that has a value": {map[string]string{
			"configure.ac": "AC_INIT\nAM_INIT_AUTOMAKE\nAC_ARG_ENABLE(sanitizer, AS_HELP_STRING([--enable-sanitizer=X], [x]))\n",
			"Makefile.am":  "TESTS = a\n"}, []string{"autotools||&& ./configure && make"},
			[]string{"./configure --enable-sanitizer=address && make"}},
		"a sanitizer without tests": {map[string]string{"configure.ac": "AC_INIT\nAC_ARG_ENABLE(asan)\n"},
			[]string{"autotools||&& ./configure && make"}, []string{"that it builds is its check"}},
	} {
		t.Run(name, func(t *testing.T) {
			tree, found := detectAll(c.files)
			if len(found) != len(c.want) {
				t.Fatalf("%+v", found)
			}
			for i, want := range c.want {
				f, g := strings.SplitN(want, "|", 3), found[i].Test
				if g == nil {
					g = found[i].Lint
				}
				if found[i].Kind != f[0] || found[i].Dir != f[1] || !strings.Contains(g.Command, f[2]) {
					t.Errorf("%s in %q: %s", found[i].Kind, found[i].Dir, g.Command)
				}
			}
			for _, want := range c.notes {
				if !slices.ContainsFunc(tree.Notes(), func(n string) bool { return strings.Contains(n, want) }) {
					t.Errorf("no note has %q: %q", want, tree.Notes())
				}
			}
			if len(c.notes) == 0 && len(tree.Notes()) > 0 {
				t.Errorf("notes %q", tree.Notes())
			}
		})
	}
}

// A component of another ecosystem keeps what lies below it.
func TestBelowAnotherProject(t *testing.T) {
	python := []ecosystem.Component{{Dir: "", Kind: "python"}}
	for text, want := range map[string]int{"": 0, "add_test(a a)\n": 1} {
		if got := (CMake{}).Detect(ecosystemtest.Tree(map[string]string{"CMakeLists.txt": "project(y C)\n" + text}),
			python); len(got) != want {
			t.Errorf("beside it, with %q: %+v", text, got)
		}
	}
	two := append(python, ecosystem.Component{Dir: "", Kind: "cmake"})
	tree := ecosystemtest.Tree(
		map[string]string{"meson.build": "project('y', 'c')\ntest('a', a)\n", "sub/configure.ac": "AC_INIT\n",
			"sub/Makefile.am": "TESTS = a\n"})
	if got := append((Meson{}).Detect(tree, two), Autotools{}.Detect(tree, two)...); len(got) != 0 ||
		len(tree.Notes()) != 0 {
		t.Errorf("behind CMake: %+v, %q", got, tree.Notes())
	}
	tree = ecosystemtest.Tree(map[string]string{"native/CMakeLists.txt": "project(x C)\nadd_test(a a)\n"})
	if got := (CMake{}).Detect(tree, python); len(got) != 0 || len(tree.Notes()) != 1 {
		t.Errorf("below it: %+v, %q", got, tree.Notes())
	}
}

// Names of libraries lead to packages of Debian's, and others to a note.
func TestPackages(t *testing.T) {
	for name, c := range map[string]struct {
		e     ecosystem.Packager
		files map[string]string
		want  string
		notes string // is part of a note
	}{
		"CMake": {CMake{}, map[string]string{"CMakeLists.txt": `project(x C)
find_package(ZLIB REQUIRED)
find_package(CURL QUIET)
find_package(Threads)
find_package(Boost 1.70 REQUIRED COMPONENTS filesystem unit_test_framework)
find_package(x CONFIG)
find_package(${VAR})
find_package(PkgConfig REQUIRED)
pkg_check_modules(GLIB REQUIRED IMPORTED_TARGET glib-2.0>=2.40 gio-2.0)
find_library(MATH m)
find_library(EV NAMES ev REQUIRED)
find_program(FLEX flex)
find_package(Nowhere REQUIRED)
find_package(Elsewhere)
add_test(a a)
`}, "flex libboost-filesystem1.74-dev libboost-test1.74-dev libboost1.74-dev libcurl4-openssl-dev libev-dev " +
			"libglib2.0-dev zlib1g-dev", "the build needs Nowhere"},
		"components": {CMake{}, map[string]string{"CMakeLists.txt": `project(x CXX)
set(KF "KF5")
find_package(QT NAMES Qt6 Qt5 REQUIRED COMPONENTS Core)
find_package(Qt${QT_VERSION_MAJOR} 5.15 CONFIG REQUIRED Core Quick)
find_package(${KF} REQUIRED COMPONENTS WindowSystem)
find_package(${OTHER}5 REQUIRED COMPONENTS Core)
find_package(ECM 5 NO_MODULE)
add_test(a a)
`}, "extra-cmake-modules libkf5windowsystem-dev qtbase5-dev qtdeclarative5-dev", ""},
		"Qt 6 alone": {CMake{},
			map[string]string{"CMakeLists.txt": "project(x CXX)\nfind_package(QT NAMES " +
				"Qt6)\nfind_package(Qt${QT_VERSION_MAJOR} REQUIRED COMPONENTS Widgets)\nadd_test(a a)\n"}, "qt6-base-dev", ""},
		"itself": {CMake{},
			map[string]string{"CMakeLists.txt": "project(json-c C)\nfind_package(ZLIB)\nadd_test(a a)\n",
				"apps/CMakeLists.txt": "find_package(json-c REQUIRED)\nfind_library(J NAMES json-c)\npkg_check_modules(L " +
					"REQUIRED libevent)\n", "cmake/libeventConfig.cmake": ""}, "zlib1g-dev", ""},
		"CMake's tests": {CMake{},
			map[string]string{"CMakeLists.txt": "project(x C)\nfind_package(CMocka " +
				"REQUIRED)\nfind_package(GTest)\nFetchContent_Declare(googletest GIT_REPOSITORY https://x)\nadd_test(a a)\n"},
			"googletest libcmocka-dev libgmock-dev libgtest-dev", ""},
		"Meson": {Meson{}, map[string]string{"meson.build": `project('x', 'c')
dependency('libcurl', version: '>= 7')
dependency('threads')
dependency('json-c', required: get_option('json'))
dependency('nowhere')
dependency('elsewhere', required: false)
cc.find_library('m', required: false)
cc.find_library('ev')
find_program('xxd')
test('a', a)
`}, "libcurl4-openssl-dev libev-dev libjson-c-dev xxd", "the build needs nowhere"},
		"autotools": {Autotools{}, map[string]string{"configure.ac": `AC_INIT([x], [1])
AM_INIT_AUTOMAKE
AC_CHECK_LIB(crypto, SHA1_Init)
AC_SEARCH_LIBS([tgetent], [tinfo ncurses])
PKG_CHECK_MODULES(XML, libxml-2.0 >= 2.6 zlib)
PKG_CHECK_MODULES([LIBEV], [libev])
dnl AC_CHECK_LIB(ssl)
AC_PROG_YACC
AM_GNU_GETTEXT([external])
AX_CXX_COMPILE_STDCXX([17])
AC_CHECK_PROGS([PY], [python3 python])
AC_CHECK_LIB([nowhere], [f])
`, "Makefile.am": "TESTS = a\ninfo_TEXINFOS = x.texi\n"},
			"autoconf-archive bison gettext libncurses-dev libssl-dev libxml2-dev python3 texinfo zlib1g-dev", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := &ecosystemtest.Sources{Texts: c.files}
			got, err := c.e.Packages(s)
			if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("%v\n%s\n%s", err, strings.Join(got, " "), c.want)
			}
			notes := strings.Join(s.Notes, "\n")
			if (notes == "") != (c.notes == "") || !strings.Contains(notes, c.notes) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// A tree that asks for more than can be, and one that asks for odd names.
func TestPackagesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("project(x C)\nadd_test(a a)\n")
	n := 0
	for name := range libraries() {
		if kind, of := name[:2], name[2:]; kind == pkgConfigName && n < 200 {
			b.WriteString("pkg_check_modules(X " + of + ")\n")
			n++
		}
	}
	b.WriteString("pkg_check_modules(X ../evil ;rm -rf $(x) --option zlib;y)\nfind_package(-dev REQUIRED)\n")
	s := &ecosystemtest.Sources{Texts: map[string]string{"CMakeLists.txt": b.String()}}
	got, err := CMake{}.Packages(s)
	if err != nil || len(got) != maxPackages || len(s.Notes) != 1 {
		t.Errorf("%d packages, %v, %q", len(got), err, s.Notes)
	}
}

func TestExplainOutput(t *testing.T) {
	const stopped = "-- Configuring incomplete, errors occurred!\n"
	for output, want := range map[string]string{
		"Could NOT find ZLIB (missing: ZLIB_LIBRARY)\n" +
			stopped: "install -y zlib1g-dev",
		"Could NOT find ZLIB (missing: ZLIB_LIBRARY)\n":                                                 "",
		"  Could not find a package configuration file provided by \"Nowhere\" with any of\n" + stopped: "asks for Nowhere",
		"meson.build:2:0: ERROR: Dependency \"libcurl\" not found, tried pkgconfig and cmake\n":         "install -y libcurl4-openssl-dev",
		"configure: error: no acceptable frobnicator\n":                                                 "no acceptable frobnicator",
		"fatal: unable to access 'https://x/': Could not resolve host: x\n" +
			stopped: "downloads while it is configured",
		"No tests were found!!!\n":                   "has no tests",
		"1/1 Test #1: a ....   Passed    0.00 sec\n": "",
	} {
		got := CMake{}.ExplainOutput(output)
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: %q", output, got)
		}
		if starts := (CMake{}).CannotStart("cmake -S . -B x", 1, output); starts != (want != "") {
			t.Errorf("%q: cannot start: %v", output, starts)
		}
	}
	if (CMake{}).CannotStart("go test ./...", 1, "configure: error: x\n") {
		t.Error("go test is not a configuration")
	}
}

// Among other output the runners are known, and code that does not compile is named
// where make gave up on it.
func TestPlainOutput(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // failures; none: it is of no one
	}{
		"ctest": {"hello\nTest project /x\n    Start 1: a\n1/1 Test #1: a ....***Failed    0.00 " +
			"sec\nno\n\n0% tests passed, 1 tests failed out of 1\n", []string{"a"}},
		"a crash": {"Test project /x\n    Start 1: a\n1/1 Test #1: a ....***Exception: SegFault  0.10 " +
			"sec\n\n0% tests passed, 1 tests failed out of 1\n", []string{"a"}},
		"make that compiles": {"cc -c x.c\nx.c:1:2: error: expected ';'\nmake: *** [<builtin>: x.o] Error 1\n",
			[]string{"does not compile: x.c"}},
		"make that links": {"/usr/bin/ld: x.o: in function `main':\nx.c:(.text+0x5): undefined reference to " +
			"`sum'\ncollect2: error: ld returned 1 exit status\nmake: *** [Makefile:2: x] Error 1\n",
			[]string{"does not link: sum"}},
		"a test of a linter":  {"x.c:1:2: error: expected ';'\nok\n", nil},
		"make that tests":     {"./t\nmake: *** [Makefile:2: test] Error 1\n", nil},
		"automake's one test": {"PASS: a\n=============\n1 test passed\n=============\n", []string{}},
		"automake's old ways": {"PASS: a\nFAIL: b\n1 of 2 tests failed\nmake[1]: *** [Makefile:9: check-TESTS] Error 1\n",
			[]string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			var failed []string
			known := false
			for _, r := range (CMake{}).PlainReaders() {
				for line := range strings.Lines(c.text) {
					r.ReadLine(strings.TrimRight(line, "\n"))
				}
				if res := r.Finish(); res != nil && res.ParseError == "" {
					known = true
					for _, f := range res.Failed {
						failed = append(failed, f.Name)
					}
				}
			}
			if !slices.Equal(failed, c.want) || known != (c.want != nil) {
				t.Errorf("%q", failed)
			}
		})
	}
}
