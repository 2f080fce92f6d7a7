package prbody

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Templates as projects have them: headings in their order, ours under those that it fits, boxes unticked, and the rest
// for a person. What stands there is not told again below.
func TestFillTemplate(t *testing.T) {
	t.Parallel()
	const problem, change, test, risk = "**Problem.**", "answers 429", "fail without this change", "**Risks.**"
	const forPerson = "_Not filled in: for a person._"
	options := PROptions{Pushed: true, TitleAbove: true, ClosingLines: []string{"Closes #12"}}
	for name, c := range map[string]struct {
		template string
		want     []string // in this order
		not      []string
		below    []string // what stays in the text below
	}{
		"the usual one": {"---\nname: x\n---\n<!-- read\nthis -->\n# Pull request\n## Description\n\nPlease include a summary.\n" +
			"\nFixes # (issue)\n\n## Type of change\n\n- [x] Bug fix\n- [ ] Feature\n\n## How Has This Been Tested?\n\nDescribe." +
			"\n\n- [ ] Unit tests\n\n### Checklist:\n\n* [X] I read it\n\n## Screenshots\n<!-- drop -->\n",
			[]string{"# Pull request\n\n## Description\n\n" + problem, change, "## Type of change\n\n- [ ] Bug fix\n- [ ] Feature",
				"## How Has This Been Tested?\n\n- ", test, "\n\n- [ ] Unit tests", "### Checklist:\n\n* [ ] I read it",
				"## Screenshots\n\n" + forPerson},
			[]string{"<!--", "Please", "name: x", "ixes"}, []string{risk, "Closes #12"}},
		"a bot's": {"#### What this PR does / why we need it:\n\n#### Which issue(s) this PR fixes:\nFixes #\n\n" +
			"#### Special notes:\n\n#### Does this PR introduce a user-facing change?\n```release-note\n<none> & @all\n```\n",
			[]string{"why we need it:\n\n" + problem, change, "fixes:\n\nCloses #12\n\n", "notes:\n\n" + forPerson,
				"change?\n\n```release-note\n<none> & @all\n```"}, []string{"Fixes #"}, []string{risk, test}},
		"bold headings": {"**Why:** tell us\n\n**What changed**\n\n**Risk / impact:**\n",
			[]string{"**Why:**\n\n" + problem, "**What changed**\n\n", change, "**Risk / impact:**\n\n" + risk},
			[]string{"tell us"}, []string{test}},
		"a table": {"| Q | A\n| --- | ---\n| Bug fix? | yes/no\n",
			[]string{"| Q | A\n| --- | ---\n| Bug fix? | yes/no"}, []string{problem}, []string{problem, change, test, risk}},
		"nothing but comments": {"<!-- one -->\n\n<!-- two", nil, nil, []string{problem, change, test, risk, "Closes #12"}},
	} {
		filled, rest := FillTemplate(c.template, oneSubtask(), options)
		at := 0
		for _, part := range c.want {
			next := strings.Index(filled[at:], part)
			if next < 0 {
				t.Errorf("%s: %q is not in its place:\n%s", name, part, filled)
				break
			}
			at += next
		}
		for _, part := range c.not {
			if strings.Contains(filled, part) {
				t.Errorf("%s: %q is left:\n%s", name, part, filled)
			}
		}
		open, _ := splitOpen(PRBody(oneSubtask(), rest))
		open = strings.Join(strings.Fields(open), " ")
		for _, part := range []string{problem, change, test, risk, "Closes #12"} {
			if is := strings.Contains(open, part); is == strings.Contains(filled, part) {
				t.Errorf("%s: %q is told below: %t\n%s\n%s", name, part, is, filled, open)
			}
		}
		for _, part := range c.below {
			if !strings.Contains(open, part) {
				t.Errorf("%s: %q is lost", name, part)
			}
		}
		if (filled == "") != (c.want == nil) {
			t.Errorf("%s:\n%s", name, filled)
		}
	}
	if filled, _ := FillTemplate("## Why\n", oneSubtask(), PROptions{}); !strings.HasPrefix(filled, "# ") {
		t.Errorf("the title of a page is not first:\n%s", filled)
	}
}

// Feature: pull requests, Property 2: Templates Are Harmless
//
// T22: whatever a template holds, its text mentions nobody, closes nothing, forms no markup but Markdown's own blocks,
// holds no marker of ours and is bounded.
func TestAnyTemplateIsHarmless(t *testing.T) {
	t.Parallel()
	parts := append([]string{"<!-- company office=abcd task=t1 -->", "<!", "<!<!-- x -->-- company office=abcd task=t1 -->",
		"-->", "\n```x\n", "\n    ```\n", "\n~~~\n", "\n> ```\n", "\n## Description\n", "\n**What**\n", "\n- [x] done\n", "\n/assign me\n",
		strings.Repeat("long & ", 300), strings.Repeat("&", 3000), strings.Repeat("line\n", 300)}, hostileParts...)
	rapid.Check(t, func(t *rapid.T) {
		template := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 40).Draw(t, "template"), "")
		filled, _ := FillTemplate(template, oneSubtask(), PROptions{TitleAbove: true})
		fence := ""
		for line := range strings.Lines(filled) {
			line = strings.TrimSuffix(line, "\n")
			mark := fenceRE.FindString(line)
			switch {
			case fence != "":
				if line == fence {
					fence = ""
				}
			case mark != "" && strings.HasPrefix(line, mark[:3]):
				fence = fenceRE.FindStringSubmatch(line)[1]
			case strings.Contains(dropSpans(line), "@admin"), strings.Contains(line, "<"), strings.Contains(line, "!["),
				closingWordsRE.MatchString(dropSpans(line)), commandRE.MatchString(line), tickedRE.MatchString(line):
				t.Errorf("it acts: %q of\n%s", line, filled)
			}
		}
		if fence != "" || strings.Contains(filled, "<!--") || len(filled)+MaxPRBytes > 65_536 ||
			strings.ContainsAny(filled, "\u202e\x1b") {
			t.Errorf("%d bytes, fence %q:\n%s", len(filled), fence, filled)
		}
	})
}
