package gates_test

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/lib/hosttest"
)

// compiled is a project of C in the image that is made for it.
type compiled struct {
	*bundle
	project gates.Project
	base    company.OID
	image   image.Image
}

// compileProject detects the checks of these files and makes their image.
func compileProject(t *testing.T, build func(dir string)) *compiled {
	t.Helper()
	c := &compiled{bundle: setup(t, build).withDocker()}
	c.base = c.commit("main")
	var err error
	if c.project, err = gates.Detect(c.ctx, c.mirror, c.base, gates.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", c.project)
	b, err := image.New(image.Config{Runtime: c.rt.Runtime, Progress: func(line string) { t.Log(line) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	c.image, err = b.Ensure(c.ctx,
		image.Request{Toolchains: c.project.Toolchains, Repo: &image.Repo{MirrorDir: c.mirror.Dir(), Commit: c.base}})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", c.image)
	c.runner.Canary = true
	c.runner.Limits = container.Limits{MemoryBytes: 3 * container.GiB}
	return c
}

// judge runs the gates on what main is now. Of the base itself it is the baseline.
func (c *compiled) judge(baseline *company.GateResult) company.GateResult {
	c.t.Helper()
	tree, err := c.mirror.Tree(c.ctx, c.commit("main"))
	if err != nil {
		c.t.Fatal(err)
	}
	j := gates.Job{Mirror: c.mirror, Tree: tree, Gates: c.project.Gates, Hash: gates.HashGates(c.project.Gates),
		Image: gates.ImageByID(c.image.ID), Label: "t1-01", Epoch: 1,
		BaselineResult: baseline, Baseline: baseline == nil}
	if baseline != nil {
		j.Base, j.BaseImage = c.base, gates.ImageByID(c.image.ID)
	}
	return c.mustRun(j)
}

// change commits some files, judges them, and takes them back.
func (c *compiled) change(baseline company.GateResult, files map[string]string) company.GateCheck {
	c.t.Helper()
	c.writeFiles(files)
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "change")
	res := c.judge(&baseline)
	c.git("reset", "-q", "--hard", string(c.base))
	return res.Checks[len(res.Checks)-1]
}

func failures(check company.GateCheck) []string {
	var out []string
	for _, t := range check.Tests {
		out = append(out, t.Name)
	}
	return out
}

// sumC is a library with a test, and what breaks one or the other.
var sumC = map[string]string{
	"sum.h": "int sum(int a, int b);\n",
	"sum.c": "#include \"sum.h\"\n#include <zlib.h>\nint sum(int a, int b) { return a + b + (int) crc32(0, " +
		"Z_NULL, 0); }\n",
	"tests/adds.c":   "#include \"../sum.h\"\nint main(void) { return sum(1, 2) == 3 ? 0 : 1; }\n",
	"tests/zeroes.c": "#include \"../sum.h\"\nint main(void) { return sum(0, 0) == 0 ? 0 : 1; }\n",
}

// A project of each build system is built and tested offline: green, red by the name
// of a test, and red for code that does not compile; nothing of its base is compiled
// again, and its tree stays as it was.
func TestCompiledProjects(t *testing.T) {
	hosttest.NeedsDocker(t)
	hosttest.Long(t, "images with compilers")
	for _, c := range []struct {
		name     string
		files    map[string]string
		test     string // the name of the test that is broken
		unproven bool
	}{
		{"cmake", map[string]string{"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(sum " +
			"C)\ninclude(CTest)\nfind_package(ZLIB REQUIRED)\nadd_library(sum sum.c)\ntarget_link_libraries(sum " +
			"ZLIB::ZLIB)\nforeach(t adds zeroes)\n  add_executable(${t} tests/${t}.c)\n  target_link_libraries(${t} sum)\n  " +
			"add_test(NAME ${t} COMMAND ${t})\nendforeach()\n"}, "adds", false},
		{"meson", map[string]string{"meson.build": "project('sum', 'c')\nsum = static_library('sum', 'sum.c', " +
			"dependencies: dependency('zlib'))\nforeach t : ['adds', 'zeroes']\n  test(t, executable(t, 'tests/' + t + '.c', " +
			"link_with: sum, dependencies: dependency('zlib'), build_by_default: false))\nendforeach\n"}, "adds", true},
		{"autotools", map[string]string{
			"configure.ac": "AC_INIT([sum], [1])\nAM_INIT_AUTOMAKE([foreign " +
				"subdir-objects])\nAC_PROG_CC\nAM_PROG_AR\nAC_PROG_RANLIB\nPKG_CHECK_MODULES([Z], " +
				"[zlib])\nAC_CONFIG_FILES([Makefile tests/Makefile])\nAC_OUTPUT\n",
			"Makefile.am":       "SUBDIRS = . tests\nnoinst_LIBRARIES = libsum.a\nlibsum_a_SOURCES = sum.c sum.h\n",
			"tests/Makefile.am": "check_PROGRAMS = adds zeroes\nTESTS = $(check_PROGRAMS)\nLDADD = ../libsum.a $(Z_LIBS)\n",
		}, "tests/adds", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "cmake" {
				hosttest.Long(t, "another build system of C")
			}
			p := compileProject(t, func(dir string) {
				files := maps.Clone(c.files)
				maps.Copy(files, sumC)
				for name, text := range files {
					writeBelow(t, dir, name, text)
				}
			})
			if !slices.Contains(p.project.Toolchains, c.name) || len(p.project.Gates) != 1 {
				t.Fatalf("%+v", p.project)
			}
			base := p.judge(nil)
			if check := base.Checks[0]; !base.Passed || check.Counts == nil || check.Counts.Passed != 2 {
				t.Fatalf("the base: %+v\n%s", check.Counts, check.Output)
			}
			p.requireNothingCompiled(c.name)

			red := p.change(base, map[string]string{"sum.c": strings.Replace(sumC["sum.c"], "a + b", "a - b", 1)})
			if red.Passed || !slices.Equal(failures(red), []string{c.test}) {
				t.Errorf("a test that fails: %q\n%s", failures(red), red.Output)
			}
			broken := p.change(base, map[string]string{"sum.c": sumC["sum.c"] + "int more(\n"})
			if broken.Passed || len(broken.Tests) != 1 || !broken.Tests[0].Unrun ||
				broken.Tests[0].Name != "does not compile: sum.c" {
				t.Errorf("code that does not compile: %+v\n%s", broken.Tests, broken.Output)
			}
			good := p.change(base, map[string]string{"sum.c": sumC["sum.c"] + "int more;\n"})
			if !good.Passed || good.Canary == nil || (good.Canary.Reason != "") != c.unproven ||
				!c.unproven && !slices.Equal(good.Canary.Proven, []string{"."}) {
				t.Errorf("a change that is good: %+v\n%s", good.Canary, good.Output)
			}
			if c.unproven {
				return
			}
			hollow := p.change(
				base, map[string]string{"CMakeLists.txt": strings.Replace(
					c.files["CMakeLists.txt"], "include(CTest)",
					"include(CTest)\nfunction(add_test)\n  if(NOT TEST ok)\n    _add_test(NAME ok COMMAND ${CMAKE_COMMAND} -E "+
						"true)\n  endif()\nendfunction()", 1)})
			if hollow.Canary == nil || !slices.Equal(hollow.Canary.Hollow, []string{"."}) ||
				!strings.Contains(hollow.Output, "100% tests passed") {
				t.Errorf("a change that keeps tests from counting: %+v\n%s", hollow.Canary, hollow.Output)
			}
		})
	}
}

// Where make alone compiles, its objects are of the base, too: by make's own name for the
// compiler and by another. The tests are compiled ahead, and none is run.
func TestMakeIsCompiledAhead(t *testing.T) {
	hosttest.NeedsDocker(t)
	hosttest.Long(t, "make alone, beside the build systems of C")
	for name, text := range map[string]string{
		"goals that the check needs": "test: adds zeroes\n\t./adds && ./zeroes\nadds: tests/adds.o sum.o\n\t$(CC) -o $@ $^ " +
			"-lz\nzeroes: tests/zeroes.o sum.o\n\t$(CC) -o $@ $^ -lz\n",
		"another compiler": "CC = gcc\nLDLIBS = -lz\nall: tests/adds tests/zeroes\ntests/adds tests/zeroes: " +
			"sum.o\ntests/adds: tests/adds.o\ntests/zeroes: tests/zeroes.o\ncheck: all\n\ttests/adds\n\ttests/zeroes\n",
	} {
		t.Run(name, func(t *testing.T) {
			p := compileProject(t, func(dir string) {
				files := maps.Clone(sumC)
				files["Makefile"] = text
				for name, text := range files {
					writeBelow(t, dir, name, text)
				}
			})
			base := p.judge(nil)
			if !base.Passed {
				t.Fatalf("the base: %s", base.Checks[0].Output)
			}
			p.requireNothingCompiled(name)
			broken := p.change(base, map[string]string{"sum.c": sumC["sum.c"] + "int more(\n"})
			if broken.Passed {
				t.Errorf("code that does not compile:\n%s", broken.Output)
			}
		})
	}
}

var cacheCountRE = regexp.MustCompile(`(?m)^(remote_storage_hit|remote_storage_read_miss|cache_miss)\s+(\d+)`)

// requireNothingCompiled runs a check once more and asks ccache what it compiled.
func (c *compiled) requireNothingCompiled(name string) {
	c.t.Helper()
	g := c.project.Gates[len(c.project.Gates)-1]
	g.Report, g.Parse = g.Command+" >/dev/null && ccache --print-stats", ""
	tree, err := c.mirror.Tree(c.ctx, c.base)
	if err != nil {
		c.t.Fatal(err)
	}
	cold := g
	cold.Report = "export CCACHE_DISABLE=1\n" + g.Command + " >/dev/null"
	cmds := []company.GateCommand{g, cold}
	res := c.mustRun(
		gates.Job{Mirror: c.mirror, Tree: tree, Gates: cmds, Hash: gates.HashGates(cmds), Image: gates.ImageByID(c.image.ID),
			Label: "t1-01", Epoch: 1, Baseline: true})
	counts := map[string]string{}
	for _, m := range cacheCountRE.FindAllStringSubmatch(res.Checks[0].Output, -1) {
		counts[m[1]] = m[2]
	}
	if counts["remote_storage_hit"] == "" || counts["remote_storage_hit"] == "0" {
		c.t.Errorf("%s: nothing that was compiled ahead is found: %v\n%s", name, counts, res.Checks[0].Output)
	}
	c.t.Logf("%s: %v; with what is in the image %s, without %s", name, counts,
		res.Checks[0].Took.Round(10*time.Millisecond), res.Checks[1].Took.Round(10*time.Millisecond))
}

func writeBelow(t *testing.T, dir, name, text string) {
	t.Helper()
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// debianSource unpacks a source package of Debian into a folder. Packages are kept
// between runs, beside the images' cache.
func debianSource(t *testing.T, name, dir string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-source"); err != nil {
		hosttest.Lacks(t, "no dpkg-source: apt-get install dpkg-dev")
	}
	cache, err := image.CacheDir("")
	if err != nil {
		t.Fatal(err)
	}
	apt := filepath.Join(cache, "test-sources")
	for _, d := range []string{"lists/partial", "cache/archives/partial", "packages"} {
		if err := os.MkdirAll(filepath.Join(apt, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	found, err := filepath.Glob(filepath.Join(apt, "packages", name+"_*.dsc"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		writeBelow(t, apt, "sources.list", "deb-src http://deb.debian.org/debian bookworm main\n")
		for _, args := range [][]string{{"update", "-qq"}, {"source", "-qq", "--download-only", name}} {
			options := []string{"-o", "Dir::Etc::sourcelist=" + apt + "/sources.list", "-o", "Dir::Etc::sourceparts=-", "-o",
				"Dir::State::lists=" + apt + "/lists", "-o", "Dir::Cache=" + apt + "/cache", "-o", "APT::Sandbox::User=root"}
			cmd := exec.CommandContext(t.Context(), "apt-get", append(options, args...)...)
			cmd.Dir, cmd.WaitDelay = filepath.Join(apt, "packages"), time.Second
			if out, err := cmd.CombinedOutput(); err != nil {
				hosttest.Lacks(t, "the source of %s cannot be had: %v\n%s", name, err, out)
			}
		}
		if found, _ = filepath.Glob(filepath.Join(apt, "packages", name+"_*.dsc")); len(found) == 0 {
			t.Fatalf("apt-get fetched no %s", name)
		}
	}
	// The folder is there already, and dpkg-source wants to make it.
	into := filepath.Join(t.TempDir(), "tree")
	cmd := exec.CommandContext(t.Context(), "dpkg-source", "--no-check", "-x", found[0], into)
	cmd.WaitDelay = time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "README")), os.CopyFS(dir, os.DirFS(into))); err != nil {
		t.Fatal(err)
	}
}

// Projects of others, as Debian has their sources: what their maintainers run is
// found, is green on the base, and names the test that a change breaks.
func TestCompiledProjectsOfOthers(t *testing.T) {
	hosttest.NeedsDocker(t)
	hosttest.Long(t, "projects of others, compiled, as strangers are")
	for _, c := range []struct {
		name, file, from, to string // a change that breaks a test
		failed               string // is among the failures; empty: they have no names
		least                int    // tests
	}{
		{"cjson", "cJSON.c", "item->valuedouble = number;", "item->valuedouble = number + 1;", "parse_number", 15},
		{"json-c", "json_tokener.c", "case 'n':", "case 'q':", "test_parse", 20},
		{"libcsv", "libcsv.c", "*cdest++ = *csrc;", "*cdest++ = '?';", "check_csv", 1},
		{"libslirp", "src/ip_icmp.c", "case ICMP_ECHO:", "case 77:", "ping", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := compileProject(t, func(dir string) { debianSource(t, c.name, dir) })
			began := time.Now()
			base := p.judge(nil)
			check := base.Checks[len(base.Checks)-1]
			t.Logf("the base took %s: %+v", time.Since(began).Round(100*time.Millisecond), check.Counts)
			if !base.Passed || check.Counts == nil || check.Counts.Passed < c.least {
				t.Fatalf("the base: %+v %v\n%s", check.Counts, failures(check), check.Output)
			}
			text, err := os.ReadFile(filepath.Join(p.dir, c.file))
			if err != nil || !strings.Contains(string(text), c.from) {
				t.Fatalf("%s has no %q: %v", c.file, c.from, err)
			}
			p.requireNothingCompiled(c.name)
			red := p.change(base, map[string]string{c.file: strings.Replace(string(text), c.from, c.to, 1)})
			if red.Passed || !slices.Contains(failures(red), c.failed) {
				t.Errorf("%q\n%s", failures(red), red.Output)
			}
		})
	}
}

// A base that asks for something that no one knows stops before any work, with the
// line that mends it. A sanitizer finds what a test alone does not.
func TestBuildsInLockedContainers(t *testing.T) {
	hosttest.NeedsDocker(t)
	hosttest.Long(t, "an image with compilers")
	c := compileProject(t, func(dir string) {
		writeBelow(t, dir, "CMakeLists.txt",
			"cmake_minimum_required(VERSION 3.20)\nproject(x C)\noption(ENABLE_ASAN \"a\" OFF)\nif(ENABLE_ASAN)\n  "+
				"add_compile_options(-fsanitize=address,undefined)\n  "+
				"add_link_options(-fsanitize=address,undefined)\nendif()\ninclude(CTest)\nadd_executable(reads "+
				"reads.c)\nadd_test(NAME reads COMMAND reads)\nadd_executable(leaks leaks.c)\nadd_test(NAME leaks COMMAND leaks)\n")
		writeBelow(t, dir, "leaks.c", "#include <stdlib.h>\nint main(int n, char **a) { (void) a; return malloc((size_t) "+
			"n) == NULL; }\n")
		writeBelow(t, dir, "reads.c", "#include <stdlib.h>\nint main(int n, char **a) { (void) a; char *p = malloc(8); "+
			"char c = p[7 + n]; free(p); return c == 'x'; }\n")
	})
	if base := c.judge(nil); !base.Passed {
		t.Fatalf("%+v", base.Checks)
	}
	proposed := ""
	for _, n := range c.project.Notes {
		if _, command, ok := strings.Cut(n, "to judge with it: gates.test: "); ok {
			proposed = command
		}
	}
	given, err := gates.Detect(c.ctx, c.mirror, c.base, gates.Options{Test: gates.CommandOverride(proposed)})
	if err != nil || proposed == "" {
		t.Fatalf("%q, %v", c.project.Notes, err)
	}
	c.project.Gates = given.Gates
	check := c.judge(nil).Checks[0]
	if check.Passed || !slices.Equal(failures(check), []string{"reads"}) ||
		!strings.Contains(check.Output, "heap-buffer-overflow") {
		t.Errorf("%q by %s\n%s", failures(check), proposed, check.Output)
	}

	c.project.Gates, err = nil, nil
	c.writeFiles(map[string]string{"CMakeLists.txt": "cmake_minimum_required(VERSION 3.20)\nproject(x " +
		"C)\nfind_package(Nowhere REQUIRED)\nadd_test(NAME a COMMAND a)\n"})
	c.git("add", "-A")
	c.git("commit", "-q", "-m", "asks")
	at := c.commit("main")
	if c.project, err = gates.Detect(c.ctx, c.mirror, at, gates.Options{}); err != nil {
		t.Fatal(err)
	}
	tree, err := c.mirror.Tree(c.ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.runner.Run(
		c.ctx, gates.Job{Mirror: c.mirror, Tree: tree, Gates: c.project.Gates, Hash: gates.HashGates(c.project.Gates),
			Image: gates.ImageByID(c.image.ID), Label: "t1-01", Epoch: 1, Baseline: true})
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EGates || !company.NeedsPerson(e) ||
		!strings.Contains(e.Error(), "asks for Nowhere") || !strings.Contains(e.Error(), "apt-get install") {
		t.Errorf("%v", err)
	}
}
