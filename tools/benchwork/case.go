package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/boundedparse/yaml"
	"company/internal/lib/safetext"
)

// The files of a case's folder.
const (
	CaseFile     = "case.yaml"
	BaseFolder   = "repo"           // files of the base commit, if case.yaml names no repository
	HiddenFile   = "hidden.patch"   // adds or changes the hidden tests
	SolutionFile = "solution.patch" // a change with which the hidden tests pass; may be missing
	PlantFile    = "plant.patch"    // faults to plant in the base; may be missing
)

const (
	maxCaseFile = 256 << 10 // bytes of case.yaml
	maxPatch    = 16 << 20  // bytes of a patch

	maxInstruction = 16 << 10 // bytes

	defaultTestTime = 10 * time.Minute // of one run of the hidden tests
	defaultWorkTime = time.Hour        // of one attempt
	mostTime        = 24 * time.Hour
)

// Case is one piece of real work.
type Case struct {
	Name        string
	Instruction string
	Dir         string // absolute path of its folder
	Base        Base
	Run         string   // command of the hidden tests
	MustPass    []string // tests that fail on the base and pass with a solution; if empty, the exit code decides
	MustStay    []string // tests that pass on both
	TestTime    time.Duration
	WorkTime    time.Duration
	Hidden      []byte // a patch
	Solution    []byte // a patch; nil if there is none

	green []string // tests found to pass on the base, and with the solution
}

// caseFile is the content of case.yaml.
type caseFile struct {
	Name        string    `yaml:"name"`
	Instruction string    `yaml:"instruction"`
	Base        *baseKeys `yaml:"base"`
	Run         string    `yaml:"run"`
	MustPass    mustPass  `yaml:"must_pass"`
	MustStay    []string  `yaml:"must_stay"`
	TestTime    string    `yaml:"test_time"`
	WorkTime    string    `yaml:"work_time"`
}

// byExitCode is the value of must_pass that makes the exit code decide.
const byExitCode = "exit 0"

// mustPass is the text "exit 0", or a list of names.
type mustPass struct {
	given bool
	names []string
}

// UnmarshalYAML parses either form.
func (m *mustPass) UnmarshalYAML(text []byte) error {
	m.given = true
	var one string
	if err := yaml.Decode(text, &one, false); err == nil {
		if one != byExitCode {
			return fmt.Errorf("must_pass is %q: it is a list of names, or the text %q", one, byExitCode)
		}
		return nil
	}
	if err := yaml.Decode(text, &m.names, false); err != nil {
		return fmt.Errorf("must_pass is a list of names, or the text %q", byExitCode)
	}
	if len(m.names) == 0 {
		return fmt.Errorf("must_pass names no test: write %q where the exit code decides", byExitCode)
	}
	return nil
}

// ReadCases reads the cases of a folder, sorted by name. The folder is a case itself, or its subfolders are. The error
// is ENotFound if there is no case, and EInvalid with the file for a case that cannot be read.
func ReadCases(dir string) ([]Case, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, company.E(company.ENotFound, "the working directory is gone").Wrap(err).Fix("go to a folder that exists")
	}
	if isFile(filepath.Join(dir, CaseFile)) {
		c, err := readCase(dir)
		return []Case{c}, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, company.E(company.ENotFound, "the cases cannot be read").Wrap(err).
			Fix("name a folder of cases: benchwork examples/work")
	}
	var cases []Case
	folders := map[string]string{}
	for _, entry := range entries {
		if !isFile(filepath.Join(dir, entry.Name(), CaseFile)) {
			continue
		}
		c, err := readCase(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		if other, twice := folders[c.Name]; twice {
			return nil, company.E(company.EInvalid, fmt.Sprintf("two cases are called %s", c.Name)).
				Because(fmt.Sprintf("they are in %s and %s", other, entry.Name())).Fix("give each a name of its own")
		}
		folders[c.Name] = entry.Name()
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		return nil, company.E(company.ENotFound, "there are no cases in "+dir).
			Because("neither it nor a folder in it has a " + CaseFile).Fix("docs/bench-work.md describes a case")
	}
	slices.SortFunc(cases, func(a, b Case) int { return strings.Compare(a.Name, b.Name) })
	return cases, nil
}

// isFile reports whether a path is a regular file. A link does not count.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// faultOf returns the error for an unusable case. at is the file with the fault.
func faultOf(dir, at, what string) *company.Error {
	return company.E(company.EInvalid, fmt.Sprintf("%s: %s", filepath.Join(filepath.Base(dir), at), what))
}

// readCase reads the case in a folder.
func readCase(dir string) (Case, error) {
	bad := func(what, fix string) (Case, error) {
		return Case{}, faultOf(dir, CaseFile, what).Fix(fix)
	}
	text, err := readBounded(filepath.Join(dir, CaseFile), maxCaseFile)
	if err != nil {
		return Case{}, faultOf(dir, CaseFile, "it cannot be read").Wrap(err).Fix("make it a file of at most 256 KiB")
	}
	var f caseFile
	if err := yaml.Decode(text, &f, true); err != nil {
		return Case{}, faultOf(dir, CaseFile, "it is not a case").Because(err.Error()).
			Fix("its keys are name, instruction, base, run, must_pass, must_stay, test_time and work_time (docs/bench-work.md)")
	}
	c := Case{Name: f.Name, Instruction: strings.TrimSpace(f.Instruction), Dir: dir, Run: strings.TrimSpace(f.Run),
		MustPass: f.MustPass.names, MustStay: f.MustStay}
	if c.Name == "" {
		c.Name = filepath.Base(dir)
	}
	switch {
	case !isName(c.Name):
		return bad(fmt.Sprintf("the name %q cannot be used", safetext.EscapeLine(c.Name, 80)),
			"use letters, digits, dots, dashes and underscores, at most 100")
	case c.Instruction == "":
		return bad("instruction is missing", "write what the company is asked for")
	case len(c.Instruction) > maxInstruction:
		return bad(fmt.Sprintf("instruction has %d bytes, %d are allowed", len(c.Instruction), maxInstruction),
			"shorten it: it is the ticket of a solo attempt")
	case c.Run == "" || strings.ContainsAny(c.Run, "\r\n\x00"):
		return bad("run is not a command of one line", "name the command of the hidden tests, such as go test ./...")
	case !f.MustPass.given:
		return bad("must_pass is missing", `name the tests that must turn green, or write "exit 0"`)
	case len(c.MustPass) == 0 && len(c.MustStay) > 0:
		return bad("must_stay has names, and must_pass has none", "name the tests of both")
	}
	if twice := findTwice(append(slices.Clone(c.MustPass), c.MustStay...)); twice != "" {
		return bad(fmt.Sprintf("the test %q is named twice, or not at all", safetext.EscapeLine(twice, 120)),
			"name each test once, in must_pass or must_stay")
	}
	for _, d := range []struct {
		key, text string
		usual     time.Duration
		into      *time.Duration
	}{{"test_time", f.TestTime, defaultTestTime, &c.TestTime}, {"work_time", f.WorkTime, defaultWorkTime, &c.WorkTime}} {
		if *d.into = d.usual; d.text == "" {
			continue
		}
		took, err := time.ParseDuration(d.text)
		if err != nil || took < time.Second || took > mostTime {
			return bad(fmt.Sprintf("%s %q is not a duration of 1s to 24h", d.key, safetext.EscapeLine(d.text, 40)),
				"write 90s, 10m or 2h")
		}
		*d.into = took
	}
	if c.Base, err = findBase(dir, f.Base); err != nil {
		return Case{}, err
	}
	if c.Hidden, err = readBounded(filepath.Join(dir, HiddenFile), maxPatch); err != nil ||
		len(bytes.TrimSpace(c.Hidden)) == 0 {
		return Case{}, faultOf(dir, HiddenFile, "the patch of the hidden tests cannot be read, or is empty").Wrap(err).
			Fix("write it with git diff --binary")
	}
	c.Solution, err = readBounded(filepath.Join(dir, SolutionFile), maxPatch)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Case{}, faultOf(dir, SolutionFile, "the patch cannot be read").Wrap(err).
			Fix("write it with git diff --binary, or take it away")
	}
	return c, nil
}

// isName reports whether a name is valid for a folder and a branch.
func isName(s string) bool {
	const signs = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
	return s != "" && len(s) <= 100 && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, "-") &&
		!strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(signs, r) })
}

// findTwice returns a name that is empty or duplicate. It returns "" if the names are valid.
func findTwice(names []string) string {
	seen := map[string]bool{}
	for _, n := range names {
		if n == "" {
			return " "
		}
		if seen[n] {
			return n
		}
		seen[n] = true
	}
	return ""
}

// readBounded reads a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("%s is not a file of at most %d bytes", filepath.Base(path), limit)
	}
	return os.ReadFile(path)
}
