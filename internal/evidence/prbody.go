package evidence

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"company/internal/company"
)

// PRBody is the text of a task's pull request: what was asked, what was done,
// what shows it, what it cost, and how to do it again. It is a function of the
// state, so writing it again changes nothing. pushed says whether the branch is
// at a remote.
func PRBody(t *company.Task, pushed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", inert(firstLine(t.Instruction)))
	if rest := strings.TrimSpace(strings.TrimPrefix(t.Instruction, firstLine(t.Instruction))); rest != "" {
		fmt.Fprintf(&b, "%s\n\n", quote(rest, 20))
	}
	if untested(t) {
		b.WriteString("**UNTESTED**: this repository has no gates.\n\n")
	}
	b.WriteString("## Subtasks\n\n| ticket | title | commit | runs |\n|---|---|---|---|\n")
	for _, s := range t.Subtasks {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", s.ID, inert(s.Planned.Title), s.Merged.Short(), s.Started)
	}
	b.WriteString("\n## Gates\n\n| gate | command | exit | took |\n|---|---|---|---|\n")
	if t.Gate != nil {
		for _, c := range t.Gate.Result.Checks {
			fmt.Fprintf(&b, "| %s | `%s` | %d | %s |\n", c.Name, strings.ReplaceAll(c.Command, "|", "\\|"), c.ExitCode, c.Took.Round(10*time.Millisecond))
		}
		fmt.Fprintf(&b, "\nRun on the tree of %s in a fresh container without a network; the exit code is the daemon's.\n", t.Head.Short())
	}
	if r := t.Review.Last; r != nil {
		fmt.Fprintf(&b, "\n## Review\n\n%s of %s.\n", inert(r.Verdict), r.Head.Short())
		if t.Review.Waived == t.Head {
			b.WriteString("Waived by the president.\n")
		}
		for _, e := range r.Evidence {
			fmt.Fprintf(&b, "- %s\n", inert(e))
		}
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "- %s %s:%d %s\n", f.Severity, inert(f.File), f.Line, inert(f.What))
		}
	}
	var runs, turns int
	for _, r := range t.Runs {
		runs++
		turns += r.Turns
	}
	fmt.Fprintf(&b, "\n## Cost\n\n%s in %d runs and %d turns.\n", t.Spent, runs, turns)
	b.WriteString("\n## Reproduce\n\n```sh\n")
	if pushed {
		fmt.Fprintf(&b, "git fetch origin %s\ngit checkout %s\n", t.IntegrationBranch(), t.Head)
	} else {
		fmt.Fprintf(&b, "company diff %s | git apply --index # on %s\n", t.ID, t.Prepared.Base.OID.Short())
	}
	if t.Prepared != nil {
		for _, g := range t.Prepared.Gates {
			b.WriteString(g.Command + "\n")
		}
	}
	b.WriteString("```\n")
	return b.String()
}

func untested(t *company.Task) bool { return t.Prepared != nil && len(t.Prepared.Gates) == 0 }

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// inert makes text of agents and people harmless in Markdown that a forge
// shows: no HTML, no images, no mentions, no words that close issues (T22).
func inert(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	// Nor anything that steers a terminal or hides in a line (T18).
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	r := strings.NewReplacer("<", "&lt;", ">", "&gt;", "![", "!\\[", "@", "@\u200b", "|", "\\|", "#", "#\u200b")
	return r.Replace(s)
}

// quote shows at most n lines of text as data.
func quote(s string, n int) string {
	lines := strings.Split(s, "\n")
	if len(lines) > n {
		lines = append(lines[:n], "…")
	}
	for i, l := range lines {
		lines[i] = "> " + inert(l)
	}
	return strings.Join(lines, "\n")
}
