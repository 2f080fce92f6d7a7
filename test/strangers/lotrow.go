package strangers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Verdict is what came of one case.
type Verdict string

// The verdicts. Right and AskedSensibly count as right; RegistryTold counts within the
// cases whose registry cannot be reached, which have a rate of their own.
const (
	Right          Verdict = "right"
	AskedSensibly  Verdict = "asked sensibly"
	RegistryTold   Verdict = "registry away, named"
	RegistryMissed Verdict = "registry away, silent"
	MergedNamed    Verdict = "merged, check named"
	MergedBlind    Verdict = "merged blind"
	RefusedWrongly Verdict = "refused wrongly"
	RefusedUnnamed Verdict = "refused without a name"
	AskedVaguely   Verdict = "asked without a line"
	CountedWrong   Verdict = "counted wrong"
	NotPlain       Verdict = "complete, unverified"
	Cut            Verdict = "cut"
	NotDrawn       Verdict = "no candidate"
)

// CaseRow is what a draw keeps of one case. It is one line of JSON in draws/.
type CaseRow struct {
	Commit     string // of the company that was measured
	Draw       int
	Again      bool `json:",omitempty"` // the draw was walked a second time
	Number     int
	Stratum    Stratum
	Name       string
	Version    string
	PassedOver []string      `json:",omitempty"` // candidates before it, with the reason
	Theirs     []string      // commands that are green outside
	NotRun     []string      `json:",omitempty"` // of theirs, with the reason
	Mutation   string        // file, line and change
	Red        string        // the command that sees it
	Good       string        // how the good change ended
	Broken     string        // how the breaking one ended
	Verdict    Verdict       //
	Why        string        `json:",omitempty"`
	Cause      string        `json:",omitempty"` // F1 to F16, or a new letter; read and set by people
	Doctor     time.Duration //
	First      time.Duration // from the submission to the first request to the model
	Whole      time.Duration // of the company's part
	Prepared   time.Duration // of the part outside
	Measured   time.Time
}

// describe notes what is known of a case before the company sees it.
func (r *CaseRow) describe(c lotCase) {
	r.Name, r.Version, r.Red, r.Prepared = c.Listed.Name, c.Listed.Version, c.Red.Text, c.Prepared
	if c.Away == "" {
		r.Mutation = c.Mutation.describe()
	}
	for _, g := range c.Green {
		r.Theirs = append(r.Theirs, g.Text+" ["+g.File+"]")
	}
	for _, n := range c.NotRun {
		r.NotRun = append(r.NotRun, "`"+n.Text+"`: "+n.Why)
	}
}

// isAway reports whether the case counts in the rate of registries that cannot be reached.
func (r CaseRow) isAway() bool { return r.Verdict == RegistryTold || r.Verdict == RegistryMissed }

// isRight reports whether the case counts as right.
func (r CaseRow) isRight() bool {
	return r.Verdict == Right || r.Verdict == AskedSensibly || r.Verdict == RegistryTold
}

// drawFile is where the rows of a draw are kept, those of its second walk in another file.
func drawFile(root, commit string, draw int, again bool) string {
	name := fmt.Sprintf("%s-%d.jsonl", shortCommit(commit), draw)
	if again {
		name = fmt.Sprintf("%s-%d-again.jsonl", shortCommit(commit), draw)
	}
	return filepath.Join(root, "test", "strangers", "draws", name)
}

// appendLine writes a value as a line of JSON: an interrupted draw keeps what it has.
func appendLine(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

// readLines reads what appendLine wrote. A line that was cut by an interruption is left
// out, as is a file that is not there.
func readLines[T any](file string) (values []T, err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var value T
		if json.Unmarshal(lines.Bytes(), &value) == nil {
			values = append(values, value)
		}
	}
	return values, lines.Err()
}

// readRows reads the rows of a draw. Of two rows of one case the later one counts.
func readRows(file string) (rows []CaseRow, err error) {
	all, err := readLines[CaseRow](file)
	for _, row := range all {
		if at := slices.IndexFunc(rows, func(r CaseRow) bool { return r.Number == row.Number }); at >= 0 {
			rows[at] = row
			continue
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b CaseRow) int { return a.Number - b.Number })
	return rows, err
}

// readDraws reads all draws that the repository keeps, the oldest first.
func readDraws(root string) (draws [][]CaseRow, err error) {
	files, err := filepath.Glob(filepath.Join(root, "test", "strangers", "draws", "*.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		rows, err := readRows(file)
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			draws = append(draws, rows)
		}
	}
	first := func(rows []CaseRow) time.Time {
		return slices.MinFunc(rows, func(a, b CaseRow) int { return a.Measured.Compare(b.Measured) }).Measured
	}
	slices.SortStableFunc(draws, func(a, b []CaseRow) int { return first(a).Compare(first(b)) })
	return draws, nil
}

// writeDraws returns the report of draws.
func writeDraws(draws [][]CaseRow) string {
	var b strings.Builder
	b.WriteString(`# Strangers

` + "`make strangers SEED=n N=k`" + ` runs the company on repositories of other people. They are
drawn by a seed from frozen lists of public archives, in
test/strangers/lists; those of Debian hold what the archive served on
the day they were made (2026-11-26). The seed is sha256 of the measured commit, a
slash and n. A whole draw has 20 cases: 8 of Node and TypeScript, 5 of Go, 4 of Python, 2 of C
or C++, and one of Rust or PHP. Nothing is configured but a scripted model.

Each case has two changes: a small good one with a test, and a breaking one that the
maintainers' own commands refuse. The commands are read from the CI definition, package.json
or Makefile by a fixed rule, and run in a plain container of Debian: no network, the same
packages, no part of the company. A repository counts if a command is green there and, twice, red
with the breaking change. Others are passed over and named. The company has six minutes for a
case.

- **right**: the good change ends COMPLETE with the runner's own count, and the breaking one
  is refused with the name of the test or check.
- **asked sensibly**: the company asked once, offered a line, and was right with that line.
- **merged blind**: a change was merged although a command of the maintainers refuses it, and
  no sentence names that command as not run. **merged, check named**: a sentence does.
- **refused wrongly**: the good change was not merged.
- **counted wrong**: the count is not the runner's.
- **registry away**: packages cannot be fetched here. The task has to say so within 15 seconds
  of the first failed request, with the line that goes on. These cases have their own rate.
- **complete, unverified**: both changes were judged rightly, and the company says of a check that
  it judged nothing.
- **cut**: not over in six minutes.

` + leftOut + `
`)
	for i, rows := range draws {
		writeDraw(&b, rows, findFirstWalk(draws[:i], rows[0]))
	}
	if len(draws) == 0 {
		b.WriteString("\nNo draw has been measured yet.\n")
	}
	return b.String()
}

// findFirstWalk finds the rows of the draw that the row belongs to, where the row is of its
// second walk.
func findFirstWalk(draws [][]CaseRow, of CaseRow) []CaseRow {
	for _, rows := range draws {
		if of.Again && rows[0].Commit == of.Commit && rows[0].Draw == of.Draw {
			return rows
		}
	}
	return nil
}

// countSame counts the cases that have one verdict in both walks of a draw.
func countSame(first, second []CaseRow) (n int) {
	for _, s := range second {
		if slices.ContainsFunc(first, func(f CaseRow) bool { return f.Number == s.Number && f.Verdict == s.Verdict }) {
			n++
		}
	}
	return n
}

// writeDraw writes the table of a draw. In first are the rows of its first walk, where
// these are of its second.
func writeDraw(b *strings.Builder, rows, first []CaseRow) {
	right, counted, told, away := 0, 0, 0, 0
	for _, r := range rows {
		switch {
		case r.Verdict == NotDrawn:
		case r.isAway():
			away++
			if r.isRight() {
				told++
			}
		default:
			counted++
			if r.isRight() {
				right++
			}
		}
	}
	again, same := "", ""
	if rows[0].Again {
		again, same = ", walked again",
			fmt.Sprintf(" The verdict of the first walk: %d of %d.", countSame(first, rows), len(rows))
	}
	fmt.Fprintf(b, "\n## Draw %d of commit %s%s\n\n**Right: %d of %d.** Registry away: %d of %d. Cases: %d of %d, from "+
		"%s.%s\n\n", rows[0].Draw, shortCommit(rows[0].Commit), again, right, counted, told, away, len(rows), wholeDraw,
		formatDate(rows[0].Measured), same)
	b.WriteString("| case | drawn | their commands | breaking change | seen by | good | broken | verdict | cause | " +
		"doctor | first request | whole |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		writeCells(b, fmt.Sprint(r.Number), string(r.Stratum)+": "+r.Name+" "+r.Version, quoteAll(r.Theirs), r.Mutation,
			quoteAll(nonEmpty(r.Red)), r.Good, r.Broken, string(r.Verdict), r.Cause, formatSeconds(r.Doctor),
			formatSeconds(r.First), formatSeconds(r.Whole))
	}
	for _, r := range rows {
		if r.Why != "" {
			fmt.Fprintf(b, "\n- Case %d, %s: %s", r.Number, r.Name, flattenText(clipText(r.Why, 500)))
		}
		if len(r.NotRun) > 0 {
			fmt.Fprintf(b, "\n- Case %d, %s, not green outside: %s", r.Number, r.Name,
				flattenText(clipText(strings.Join(r.NotRun, "; "), 500)))
		}
		const notServed = "the archive answers 404 for its file"
		gone := 0
		for _, p := range r.PassedOver {
			if strings.HasSuffix(p, notServed) {
				gone++
				continue
			}
			fmt.Fprintf(b, "\n- Case %d passed over %s", r.Number, flattenText(p))
		}
		if gone > 0 {
			fmt.Fprintf(b, "\n- Case %d passed over %d more: %s", r.Number, gone, notServed)
		}
	}
	b.WriteString("\n")
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
