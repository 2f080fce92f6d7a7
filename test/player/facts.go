package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Case is what the player knows of one case.
type Case struct {
	Name  string `json:"-"`     // of its folder
	Knows string `json:"knows"` // a sentence of the instruction, by which the player knows the case
	Title string `json:"title"` // of the whole change
	Test  string `json:"test"`  // command that runs the tests
	Parts []Part `json:"parts"`
}

// Part is a part of the work that can be done by itself.
type Part struct {
	Key      string    `json:"key"`
	Title    string    `json:"title"`
	Asks     string    `json:"asks"`  // the demand
	Did      string    `json:"did"`   // the summary of the work
	Reads    []string  `json:"reads"` // files that are read whole before the part is written
	Files    []string  `json:"files"` // whose changes in the solution are of this part; a file with #n: the change n of it
	Mistakes []Mistake `json:"mistakes"`
	Remark   Mistake   `json:"remark"` // what a review asks for without need: Wrong, in the place of Right
	Edits    []Edit    `json:"-"`
}

// Mistake is a wrong text in the place of a right one.
type Mistake struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Right   string `json:"right"`
	Wrong   string `json:"wrong"`
	Shows   string `json:"shows"`   // what a failing run prints because of it; empty: only hidden tests see it
	Finding string `json:"finding"` // what a review says of it
}

// Edit is one change of the solution.
type Edit struct {
	File     string
	Line     int    // in the base, of the first line that is replaced
	Old, New string // Old is empty for a file that is new
}

// call is the call that makes the change.
func (e Edit) call(text string) Call {
	if e.Old == "" {
		return makeCall("write_file", "path", e.File, "content", text)
	}
	return makeCall("edit_file", "path", e.File, "old", e.Old, "new", text)
}

// tokenBytes and tokenTime are the bytes of a token, and how long the bench has one take.
const (
	tokenBytes = 4
	tokenTime  = time.Second / 60
)

// writingTime is how long the player writes at a part.
func (p Part) writingTime() (took time.Duration) {
	for _, e := range p.Edits {
		took += time.Duration((len(e.Old)+len(e.New))/tokenBytes) * tokenTime
	}
	return took
}

// listFiles lists the paths that a part changes.
func (p Part) listFiles() (files []string) {
	for _, e := range p.Edits {
		if !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	return files
}

// readCases reads the cases of these folders, each with facts.json and solution.patch.
func readCases(dirs []string) (cases []Case, err error) {
	for _, dir := range dirs {
		c := Case{Name: filepath.Base(dir)}
		text, err := os.ReadFile(filepath.Join(dir, "facts.json"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		patch, err := os.ReadFile(filepath.Join(dir, "solution.patch"))
		if err != nil {
			return nil, err
		}
		edits := readEdits(string(patch))
		for i := range c.Parts {
			if c.Parts[i].Edits, err = chooseEdits(edits, c.Parts[i].Files); err != nil {
				return nil, fmt.Errorf("%s: %w", dir, err)
			}
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// chooseEdits chooses the changes of these files.
func chooseEdits(edits []Edit, files []string) (out []Edit, err error) {
	for _, name := range files {
		path, number, one := strings.Cut(name, "#")
		of := slices.DeleteFunc(slices.Clone(edits), func(e Edit) bool { return e.File != path })
		if one {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > len(of) {
				return nil, fmt.Errorf("the solution has no change %s", name)
			}
			of = of[n-1 : n]
		}
		if len(of) == 0 {
			return nil, fmt.Errorf("the solution does not change %s", path)
		}
		out = append(out, of...)
	}
	return out, nil
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)`)

// readEdits reads a patch of texts, as git writes it.
func readEdits(patch string) (edits []Edit) {
	file, inHunk := "", false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			inHunk = false
		case !inHunk && strings.HasPrefix(line, "+++ b/"):
			file = strings.TrimSpace(strings.TrimPrefix(line, "+++ b/"))
		case hunkHead.MatchString(line):
			inHunk = true
			n, _ := strconv.Atoi(hunkHead.FindStringSubmatch(line)[1]) // digits
			edits = append(edits, Edit{File: file, Line: n})
		case inHunk && line[0] != '\\':
			e := &edits[len(edits)-1]
			if line[0] != '+' {
				e.Old += line[1:]
			}
			if line[0] != '-' {
				e.New += line[1:]
			}
		}
	}
	return edits
}
