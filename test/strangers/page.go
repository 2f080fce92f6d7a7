package strangers

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"time"
)

// writePage returns the report of the pinned list. missing are strangers of the list without a row.
func writePage(rows []Row, missing []string) string {
	var foreign, ours []Row
	right := 0
	for _, r := range rows {
		switch {
		case !r.Foreign:
			ours = append(ours, r)
			continue
		case r.IsRight():
			right++
		}
		foreign = append(foreign, r)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Strangers of a fixed list

`+"`make strangers/pinned`"+` runs the company on %d repositories that others made, with nothing
configured but the model: Go modules of the module proxy, source packages of
Debian, packages of npm's registry that ship their tests, and what real tools make
for whom begins a project. Names, versions and digests are pinned in
test/strangers, what was fetched is kept in the user's cache,
and is not fetched again. Each goes the whole way: the image is
prepared, the checks are found and run on the base in a locked, offline container,
one change with its test is merged, and a pull request is made. The model is
scripted, all else is real.

**Right in all: %d of %d.** That is: COMPLETE, every test of the maintainers is
among our checks, and the verdict on the base is true. Their checks are quoted from
their CI definition, Makefile, package.json or Debian's packaging, and the run fails
where the words are not there. Flags that only look closer (-race, coverage) are no
other check. The verdict is true where their own command, run on a copy outside of
our containers, ends as ours did and, where both are red, prints the names that ours
has: Go and npm on the host, offline, without privileges; Debian's packages in a
container of Debian alone with their compilers (docs/decisions/gates.md). Where they come from,
and what cannot be had: docs/decisions/strangers.md.

%s

| repository | version | kind | files | their checks | ours | the base here | outside | right | prepared in | whole | measured |
|---|---|---|---|---|---|---|---|---|---|---|---|
`, len(foreign), right, len(foreign), describeDates(rows))
	newest := newestRow(rows).Commit
	for _, r := range foreign {
		mark := "yes"
		if !r.IsRight() {
			mark = "**no**"
		}
		writeCells(&b, r.Name, r.Version, r.Kind, fmt.Sprint(r.Files), quoteAll(r.Theirs), quoteAll(r.Ours), r.Verdict,
			r.Outside, mark, formatSeconds(r.Prepare), formatSeconds(r.Total), r.describeDate(newest))
	}
	b.WriteString("\n## Not right\n\n")
	if right == len(foreign) {
		b.WriteString("None.\n")
	}
	for _, r := range foreign {
		if !r.IsRight() {
			fmt.Fprintf(&b, "- **%s**: %s\n", r.Name, flattenText(r.explainWrong()))
		}
	}
	if len(missing) > 0 {
		b.WriteString("\nThe rows are of several runs, beside other work of the machine. Without a row that holds, and not " +
			"counted: " + strings.Join(missing, ", ") + ".\n")
	}
	b.WriteString("\n## What ours leave out\n\n")
	for _, r := range foreign {
		if len(r.Known) > 0 {
			fmt.Fprintf(&b, "- %s: %s\n", r.Name, flattenText(strings.Join(r.Known, "; ")))
		}
	}
	b.WriteString("\n## What could not be had\n\n" + describeNotHad())
	b.WriteString(`
## Times

The suite outside has what its tools keep between runs; ours begin with what the
image has.

| repository | the suite outside | tests of the ticket | the canary beside them | proven to look at the change |
|---|---|---|---|---|
`)
	for _, r := range rows {
		writeCells(&b, r.Name, formatSeconds(r.Away), formatSeconds(r.Check), formatSeconds(r.Canary), r.describeProof())
	}
	if len(ours) > 0 {
		b.WriteString(`
## Shapes

Projects of ours in the shapes that people have ([test/fixtures](../test/fixtures/README.md)).

| project | kind | files | checks of the base | result | prepared in | whole | measured |
|---|---|---|---|---|---|---|---|
`)
		for _, r := range ours {
			writeCells(&b, r.Name, r.Kind, fmt.Sprint(r.Files), clipText(r.Baseline, 120), r.Result, formatSeconds(r.Prepare),
				formatSeconds(r.Total), r.describeDate(newest))
		}
	}
	return b.String()
}

// newestRow is the row that was measured last; an empty one where none has a date.
func newestRow(rows []Row) (newest Row) {
	for _, r := range rows {
		if r.Measured.After(newest.Measured) {
			newest = r
		}
	}
	return newest
}

// describeDates says when rows were measured, and of which commit of the company most
// of what the table says is.
func describeDates(rows []Row) string {
	newest := newestRow(rows)
	first, undated, others := newest.Measured, false, false
	for _, r := range rows {
		switch {
		case r.Measured.IsZero():
			undated = true
		case r.Measured.Before(first):
			first = r.Measured
		}
		others = others || !r.Measured.IsZero() && r.Commit != newest.Commit
	}
	when, from, to := "before rows had dates", formatDate(first), formatDate(newest.Measured)
	switch {
	case newest.Measured.IsZero():
		undated = false
	case from == to:
		when = "on " + to
	default:
		when = "from " + from + " to " + to
	}
	out := fmt.Sprintf("Measured %s, on %d processors, two at a time, with what earlier runs had left of image layers.",
		when, runtime.NumCPU())
	if newest.Commit != "" {
		out += fmt.Sprintf(" The newest rows are of the company's commit %s.", shortCommit(newest.Commit))
	}
	if others {
		out += " Rows of another commit have theirs beside the date."
	}
	if undated {
		out += " Those that say \"before\" are older than the first date, and their commit was not noted."
	}
	return out
}

// describeDate says when a row was measured, and of which commit where it is not that of
// the newest one.
func (r Row) describeDate(newest string) string {
	switch {
	case r.Measured.IsZero():
		return "before"
	case r.Commit == newest:
		return formatDate(r.Measured)
	case r.Commit == "":
		return formatDate(r.Measured) + ", commit not known"
	}
	return formatDate(r.Measured) + ", " + shortCommit(r.Commit)
}

func formatDate(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// shortCommit is a commit as the company's version shows it to people.
func shortCommit(commit string) string {
	id, dirty, changed := strings.Cut(commit, "-")
	id = id[:min(len(id), 12)]
	if changed {
		id += "-" + dirty
	}
	return id
}

// describeNotHad says which kinds of repositories are missing since no archive gives them.
func describeNotHad() string {
	out := "The archive of Debian that the list is fetched from (docs/decisions/strangers.md) names these source\npackages in its " +
		"signed lists, gives their description, and answers 404 for their files, or for one of them:\n\n"
	for _, n := range notHad {
		out += fmt.Sprintf("- %s: %s. %s\n", n.language, strings.Join(n.packages, ", "), n.instead)
	}
	return out
}

// explainWrong says why a row is not right.
func (r Row) explainWrong() string {
	var out []string
	if r.Result != "COMPLETE" {
		out = append(out, strings.TrimSuffix(r.Result+": "+r.Why, ": "))
	}
	if len(r.Lacking) > 0 {
		out = append(out, "not among our checks: "+quoteAll(r.Lacking))
	}
	if r.Untrue != "" {
		out = append(out, r.Untrue)
	}
	if len(out) == 0 {
		out = append(out, "none of our checks is compared with theirs")
	}
	return clipText(strings.Join(out, "; "), 1200)
}

func (r Row) describeProof() string {
	switch {
	case len(r.Proven) > 0:
		return "yes"
	case r.Result != "COMPLETE":
		return ""
	}
	return "no: " + r.Unproven
}

func writeCells(b *strings.Builder, cells ...string) {
	for _, c := range cells {
		b.WriteString("| " + strings.ReplaceAll(flattenText(c), "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

func formatSeconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func quoteAll(commands []string) string {
	var out []string
	for _, c := range commands {
		command, file, found := strings.Cut(c, " [")
		c = "`" + clipText(command, 160) + "`"
		if found {
			c += " (" + strings.TrimSuffix(file, "]") + ")"
		}
		out = append(out, c)
	}
	return strings.Join(out, "; ")
}

func flattenText(s string) string {
	return sentBackRE.ReplaceAllString(
		strings.Join(strings.Fields(s), " "), "the worker was sent back, and has one answer alone ($1)")
}

// sentBackRE is the scripted model's message to a worker that was sent back.
var sentBackRE = regexp.MustCompile(
	`run \S+ failed 1 time: ask the model: scripted gave no answer: model: bad_request \(HTTP 400\): nobody expected turn \d+ of ([^\s.]+(?:\.[^\s.]+)*)(\.? Fix: check the model's name an(d base_url( in company\.yaml| \([^)]*\))?)?)?`)

// clipText keeps a long text from filling the page.
func clipText(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return strings.TrimRight(string(r[:most]), " ,") + " …"
	}
	return s
}
