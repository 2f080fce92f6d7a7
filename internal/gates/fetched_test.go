package gates_test

import (
	"slices"
	"testing"

	"company/internal/lib/hosttest"
)

// What a build would download is taken from Debian's packages where these have it:
// GoogleTest as sources, others by the name that they are fetched under.
func TestFetchedSources(t *testing.T) {
	hosttest.NeedsDocker(t)
	hosttest.Long(t, "GoogleTest is compiled")
	c := compileProject(t, func(dir string) {
		writeBelow(t, dir, "CMakeLists.txt", `cmake_minimum_required(VERSION 3.20)
project(greets CXX)
set(CMAKE_CXX_STANDARD 17)
include(FetchContent)
FetchContent_Declare(googletest GIT_REPOSITORY https://git.example/googletest.git GIT_TAG v1.14.0)
FetchContent_Declare(fmt URL https://files.example/fmt-9.zip)
FetchContent_MakeAvailable(googletest fmt)
option(GREETS_BUILD_TESTS "tests" OFF)
if(GREETS_BUILD_TESTS)
  enable_testing()
  include(GoogleTest)
  add_executable(greet_test greet_test.cc)
  target_link_libraries(greet_test GTest::gtest_main fmt::fmt)
  gtest_discover_tests(greet_test)
endif()
`)
		writeBelow(t, dir, "greet.h", "#include <fmt/format.h>\ninline std::string greet(const char *who) { return "+
			"fmt::format(\"hello, {}\", who); }\n")
		writeBelow(t, dir, "greet_test.cc",
			"#include <gtest/gtest.h>\n#include \"greet.h\"\nTEST(Greet, Names) { EXPECT_EQ(greet(\"you\"), \"hello, you\"); "+
				"}\nTEST(Greet, IsNotEmpty) { EXPECT_FALSE(greet(\"\").empty()); }\n")
	})
	base := c.judge(nil)
	if check := base.Checks[0]; !base.Passed || check.Counts == nil || check.Counts.Passed != 2 {
		t.Fatalf("%+v\n%s", check.Counts, check.Output)
	}
	c.requireNothingCompiled("GoogleTest")
	red := c.change(base, map[string]string{"greet.h": "#include <string>\ninline std::string greet(const char *who) { " +
		"return who; }\n"})
	if red.Passed || !slices.Equal(failures(red), []string{"Greet.Names", "Greet.IsNotEmpty"}) {
		t.Errorf("%q\n%s", failures(red), red.Output)
	}
}
