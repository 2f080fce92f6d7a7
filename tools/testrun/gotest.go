package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// timeout is how long the tests of one package may take before go test ends them and prints their goroutines, and
// longTimeout is the same in make test/long.
const (
	timeout     = "1h"
	longTimeout = "2h"
)

func (r *run) chooseTimeout() string {
	if r.long {
		return longTimeout
	}
	return timeout
}

// event is a line of go test -json (cmd/test2json).
type event struct {
	Time       time.Time
	Action     string
	Package    string
	ImportPath string // of a build's output
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

// testKey names a test. An empty name means the package itself.
type testKey struct{ pkg, test string }

// timedTest is a test and how long it took, subtests included.
type timedTest struct {
	testKey
	took time.Duration
}

// collected is what the events of one go test came to.
type collected struct {
	passed   int
	failures []failure
	slowest  []timedTest
}

// goTest runs the tests of packages, prints a line as each package ends and each failed test's output at once.
func (r *run) goTest(ctx context.Context, p phase, tests testSet, packages []goPackage) (collected, error) {
	events := filepath.Join(r.out, p.name+".json")
	file, err := os.OpenFile(events, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return collected{}, err
	}
	defer file.Close()
	args := append([]string{"test", "-json", "-vet=off", "-timeout=" + r.chooseTimeout()}, tests.flags...)
	if tests.unraced {
		having, names, err := findUnraced(packages)
		if err != nil {
			return collected{}, err
		}
		packages = having
		args = append(args, "-run=^("+strings.Join(names, "|")+")$")
	}
	for _, pkg := range packages {
		args = append(args, "./"+pkg.dir())
	}
	cmd := r.testCommand(ctx, args...)
	cmd.Env = append(os.Environ(), tests.env...)
	if dir := memoryFolder(); tests.inMemory && dir != "" {
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return collected{}, err
	}
	var stderr strings.Builder
	cmd.Stderr = io.MultiWriter(&stderr, r.print)
	if err := cmd.Start(); err != nil {
		return collected{}, err
	}
	c := &collector{run: r, tests: tests, packages: packages,
		began: map[testKey]time.Time{}, output: map[testKey][]string{}}
	stopTicking := c.reportEachMinute()
	c.read(io.TeeReader(stdout, file))
	stopTicking()
	err = cmd.Wait()
	if exit := new(exec.ExitError); err != nil && !asExit(err, &exit) {
		return collected{}, err
	}
	if err != nil && len(c.failures) == 0 {
		c.failures = append(c.failures, failure{what: "go " + strings.Join(args, " "), output: lines(stderr.String()),
			repeat: "go " + strings.Join(args, " ")})
	}
	return collected{passed: c.passed, failures: c.failures, slowest: c.times}, nil
}

// command is one whose whole process group ends with ctx.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

func asExit(err error, exit **exec.ExitError) bool { return errors.As(err, exit) }

// collector reads the events of one go test.
type collector struct {
	run      *run
	tests    testSet
	packages []goPackage

	mu       sync.Mutex
	began    map[testKey]time.Time // tests that run
	output   map[testKey][]string  // of what has not ended
	ended    int
	passed   int
	failures []failure
	times    []timedTest
}

func (c *collector) read(events io.Reader) {
	scanner := bufio.NewScanner(events)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e event
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			fmt.Fprintf(c.run.print, "%s\n", scanner.Bytes())
			continue
		}
		c.take(e)
	}
	_, _ = io.Copy(io.Discard, events) // after a line that is too long
}

func (c *collector) take(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := testKey{e.Package, e.Test}
	switch e.Action {
	case "run", "cont":
		c.began[key] = time.Now()
	case "pause": // a parallel test that waits for its turn
		delete(c.began, key)
	case "output":
		c.output[key] = append(c.output[key], strings.TrimRight(e.Output, "\n"))
	case "build-output":
		key = testKey{pkg: buildOf(e.ImportPath)}
		c.output[key] = append(c.output[key], strings.TrimRight(e.Output, "\n"))
	case "pass", "skip", "fail":
		c.end(key, e)
	}
}

// buildOf is the package whose test did not compile: "company/x [company/x.test]" and "company/x" are company/x.
func buildOf(importPath string) string {
	pkg, _, _ := strings.Cut(importPath, " ")
	return strings.TrimSuffix(strings.TrimSuffix(pkg, ".test"), "_test")
}

func (c *collector) end(key testKey, e event) {
	took := time.Duration(e.Elapsed * float64(time.Second))
	output := c.output[key]
	delete(c.output, key)
	delete(c.began, key)
	if key.test != "" && !strings.Contains(key.test, "/") {
		c.times = append(c.times, timedTest{key, took})
		if e.Action == "pass" {
			c.passed++
		}
	}
	if e.Action == "fail" && key.test != "" && !c.hasFailedBelow(key) {
		c.fail(key, took, output)
	}
	if key.test != "" {
		return
	}
	c.ended++
	if e.Action == "fail" && (!c.hasFailedBelow(key) || c.hasUnfinished(key.pkg)) {
		c.failPackage(key, took, output)
	}
	word := map[string]string{"pass": "ok  ", "skip": "none", "fail": "FAIL"}[e.Action]
	if slices.ContainsFunc(output, func(line string) bool { return strings.Contains(line, "(cached)") }) {
		word = "kept"
	}
	fmt.Fprintf(c.run.print, "%s %-50s %6.1f s  %d of %d\n", word, dirOf(key.pkg), e.Elapsed, c.ended, len(c.packages))
}

// hasFailedBelow reports whether a subtest, or a test of a package, has failed, which says more than its parent does.
func (c *collector) hasFailedBelow(key testKey) bool {
	return slices.ContainsFunc(c.failures, func(f failure) bool {
		return f.test != nil && f.test.pkg == key.pkg &&
			(key.test == "" || strings.HasPrefix(f.test.test, key.test+"/"))
	})
}

// hasUnfinished reports whether tests of a package began and did not end: the package took too long, for example.
func (c *collector) hasUnfinished(pkg string) bool {
	for key := range c.output {
		if key.pkg == pkg && key.test != "" {
			return true
		}
	}
	return false
}

func (c *collector) fail(key testKey, took time.Duration, output []string) {
	f := failure{what: dirOf(key.pkg) + " " + key.test, place: c.place(key, output), took: took, output: output,
		repeat: c.repeat(key), test: &key}
	c.failures = append(c.failures, f)
	f.show(c.run.print, "FAILED", len(output))
}

// failPackage is for a package that failed without a failed test: it does not compile, panicked, or took too long.
func (c *collector) failPackage(key testKey, took time.Duration, output []string) {
	what := dirOf(key.pkg)
	for running := range c.began {
		if running.pkg == key.pkg && running.test != "" && !strings.Contains(running.test, "/") {
			what += " " + running.test
			output = append(output, c.output[running]...)
		}
	}
	f := failure{what: what, place: firstPlace(output), took: took, output: output,
		repeat: c.repeat(testKey{pkg: key.pkg})}
	c.failures = append(c.failures, f)
	f.show(c.run.print, "FAILED", len(output))
}

var placeRE = regexp.MustCompile(`[\w./-]*\w+\.go:\d+`)

func firstPlace(output []string) string {
	for _, line := range output {
		if at := placeRE.FindString(line); at != "" {
			return at
		}
	}
	return ""
}

// place is the line that a failed test named, or else that of the test itself.
func (c *collector) place(key testKey, output []string) string {
	dir := dirOf(key.pkg)
	for _, line := range output {
		if at := placeRE.FindString(line); strings.Contains(at, "_test.go:") {
			return filepath.Join(dir, filepath.Base(at))
		}
	}
	name, _, _ := strings.Cut(key.test, "/")
	files, _ := filepath.Glob(filepath.Join(dir, "*_test.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if before, _, ok := strings.Cut(string(text), "\nfunc "+name+"("); err == nil && ok {
			return fmt.Sprintf("%s:%d", file, strings.Count(before, "\n")+2)
		}
	}
	return dir
}

// repeat is the command that runs a test again as it ran here.
func (c *collector) repeat(key testKey) string {
	words := slices.Concat(c.tests.env, []string{"go", "test", "-count=1"}, c.tests.repeatFlags(),
		[]string{"./" + dirOf(key.pkg)})
	if key.test != "" {
		words = append(words, "-run", "'"+exactly(key.test)+"'")
	}
	return strings.Join(words, " ")
}

// exactly is the pattern of go test -run that selects one test or subtest.
func exactly(test string) string {
	parts := strings.Split(test, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// reportEachMinute prints what runs, so that a long silence says what it waits for.
func (c *collector) reportEachMinute() (stop func()) {
	ticker, done := time.NewTicker(time.Minute), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				c.reportRunning()
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}

func (c *collector) reportRunning() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var running []timedTest
	for key, began := range c.began {
		if !strings.Contains(key.test, "/") {
			running = append(running, timedTest{key, time.Since(began)})
		}
	}
	slices.SortFunc(running, func(a, b timedTest) int { return int(b.took - a.took) })
	var words []string
	for _, t := range running[:min(4, len(running))] {
		words = append(words, fmt.Sprintf("%s %s for %s", dirOf(t.pkg), t.test, t.took.Round(time.Second)))
	}
	if len(words) == 0 {
		words = append(words, "packages are compiled")
	}
	fmt.Fprintf(c.run.print, "... %s\n", strings.Join(words, ", "))
}

func dirOf(importPath string) string { return goPackage{ImportPath: importPath}.dir() }

// memoryFolder is a folder in memory for temporary files, or empty. Many tests make small files, which take half of
// their time on a disk. go test starts its programs there, so that must be allowed.
var memoryFolder = sync.OnceValue(func() string {
	const room = "/dev/shm"
	var stat syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(room, &stat) != nil || stat.Bavail*uint64(stat.Bsize) < 2<<30 {
		return ""
	}
	file, err := os.CreateTemp(room, "company-try.*")
	if err != nil {
		return ""
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString("#!/bin/sh\n")
	if errors.Join(err, file.Chmod(0o700), file.Close()) != nil || exec.Command(file.Name()).Run() != nil {
		return ""
	}
	return room
})
