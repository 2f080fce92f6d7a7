package cc

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestCMake(t *testing.T) {
	const build = "cmake -S . -B ../company-build -G Ninja -DX_BUILD_TESTS=ON && cmake --build ../company-build -j 2"
	ecosystemtest.Exercise(t, CMake{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(x C)\noption(X_BUILD_TESTS \"tests\" " +
				"OFF)\nfind_package(ZLIB REQUIRED)\nif(X_BUILD_TESTS)\n  enable_testing()\n  add_subdirectory(tests)\nendif()\n",
			"tests/CMakeLists.txt": "# find_package(CURL)\nadd_test(NAME a COMMAND a)\n", "src/x.c": "int x;\n",
		},
		Test:      build + " && ctest --test-dir ../company-build --output-on-failure --no-tests=error",
		System:    "zlib1g-dev",
		GateFiles: []string{"CMakeLists.txt", "warnings.cmake", "CMakePresets.json"},
		Reports: []ecosystemtest.Report{
			{File: "ctest.txt", Format: formatCTest, Passed: 1, Skipped: 2, Failed: []string{"adds", "crashes", "is not there"}},
			{File: "ctest-broken.txt", Format: formatCTest, Failed: []string{"does not compile: src/sum.c"},
				Unrun: []string{"does not compile: src/sum.c"}},
		},
		Canaries: []ecosystemtest.Canary{{Change: map[string]string{"src/x.c": "int y;\n"}, Dirs: []string{""}},
			{Change: map[string]string{"tests/CMakeLists.txt": ""}, Dirs: []string{""}}},
		PlantsByName: true,
	})
}

func TestMeson(t *testing.T) {
	ecosystemtest.Exercise(t, Meson{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"meson.build": "project('x', 'c')\nz = dependency('zlib')\nq = dependency('libcurl', required: false)\nm = " +
				"meson.get_compiler('c').find_library('m')\nsubdir('tests')\n",
			"tests/meson.build": "test('a', executable('a', 'a.c'))\n",
		},
		Test: "meson setup --wrap-mode=nodownload ../company-build && meson compile -C ../company-build -j 2 && meson " +
			"test -C ../company-build --print-errorlogs",
		System:    "libcurl4-openssl-dev zlib1g-dev",
		GateFiles: []string{"meson.build", "meson_options.txt"},
		Reports: []ecosystemtest.Report{
			{File: "meson.txt", Format: formatMeson, Passed: 1, Skipped: 1,
				Failed: []string{"sums / adds", "sums / crashes", "sums:slow / waits"}},
			{File: "meson-broken.txt", Format: formatMeson, Failed: []string{"does not compile: sum.c"},
				Unrun: []string{"does not compile: sum.c"}},
		},
	})
}

func TestAutotools(t *testing.T) {
	ecosystemtest.Exercise(t, Autotools{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"configure.ac": "AC_INIT([x], [1])\nAM_INIT_AUTOMAKE([foreign])\nAC_PROG_CC\nAC_CHECK_LIB([z], " +
				"[inflate])\nAC_SEARCH_LIBS([pow], [m])\nPKG_CHECK_MODULES([CHECK], [check >= 0.9 glib-2.0])\nAC_OUTPUT\n",
			"Makefile.am": "check_PROGRAMS = a\nTESTS = a\n",
		},
		Test: "rm -rf ../company-build && mkdir ../company-build && tar -c --mtime=@1000000000 --exclude=./.git . | " +
			"tar -x -C ../company-build && cd ../company-build && autoreconf -fi && ./configure && make -j 2 && make -k check " +
			"VERBOSE=1",
		System:    "check libglib2.0-dev zlib1g-dev",
		GateFiles: []string{"configure.ac", "Makefile.am", "configure"},
		Reports: []ecosystemtest.Report{
			{File: "automake.txt", Format: formatAutomake, Passed: 2, Skipped: 1, Failed: []string{"adds", "more/crashes"}},
			{File: "automake-broken.txt", Format: formatAutomake, Failed: []string{"does not compile: sum.c"},
				Unrun: []string{"does not compile: sum.c"}},
		},
	})
}
