package work

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/lazyregexp"
)

// soloProfile is the profile of the script that stands for the manager and the reviewer.
const soloProfile = "bench-solo"

// soloAgents have a script plan and review: the instruction is the only ticket, and what
// the project's own checks let through is delivered.
var soloAgents = []string{"agents.manager.model=" + soloProfile, "agents.reviewer.model=" + soloProfile}

// soloModel is the profile of a script. The script costs nothing.
func soloModel(script string) map[string]any {
	type m = map[string]any
	return m{"adapter": "scripted", "model": "solo", "script": script, "price": m{"input": 0, "output": 0}}
}

// writeSoloScript writes the script of an attempt.
func (a *attempt) writeSoloScript(ctx context.Context) (file string, err error) {
	names, err := a.l.listRootEntries(ctx)
	if err != nil {
		return "", err
	}
	text, err := makeSoloScript(a.l.c.Instruction, names)
	if err != nil {
		return "", err
	}
	file = filepath.Join(a.dir, "solo.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// makeSoloScript makes a script of YAML, as JSON: a plan of one ticket, an approval, and
// no help for a worker in need of it.
func makeSoloScript(instruction string, rootEntries []string) ([]byte, error) {
	type m = map[string]any
	ticket := m{
		"title": soloTitle, "description": literalText(instruction), "acceptance_criteria": []string{"the description is carried out"},
		"write_set": soloWriteSet(rootEntries), "effort": company.EffortLarge,
	}
	reply := func(tool string, args m) []m { return []m{{"tool": tool, "args": args}} }
	return json.Marshal(m{"rules": []m{
		{"role": company.Manager, "run": 1, "brief": emptyGroup, "steps": reply("submit_plan", m{"waves": []m{{"subtasks": []m{ticket}}}})},
		{"role": company.Manager, "steps": reply("give_up", m{"reason": "the worker works alone"})},
		{"role": company.Reviewer, "steps": reply("submit_review", m{"verdict": "approve", "evidence": slices.Repeat([]string{"nobody reviews this work: the diff is taken as it is"}, mostCriteria), "findings": []string{}})},
	}})
}

// mostCriteria is for how many criteria the approval names evidence: the ticket's one, and
// those of repairs.
const mostCriteria = 16

const soloTitle = "The instruction"

// placeRE matches what a script fills in; emptyGroup has a name for the empty text.
var placeRE = lazyregexp.New(`<<[a-z_][a-z0-9_]*>>`)

const emptyGroup = "(?P<nothing>)"

// literalText is a text of a script in which nothing is filled in.
func literalText(s string) string {
	return placeRE.ReplaceAllStringFunc(s, func(place string) string { return "<<<nothing>>" + place[1:] })
}

// soloWriteSet are globs of all that the core lets a plan write: the folders at the root,
// its files, and new ones like them.
func soloWriteSet(rootEntries []string) []string {
	const most = 60
	seen := map[string]bool{}
	var set []string
	add := func(glob string) {
		p := company.Plan{Waves: []company.Wave{{Subtasks: []company.PlannedSubtask{{
			Title: soloTitle, Description: soloTitle, AcceptanceCriteria: []string{soloTitle}, WriteSet: []string{glob}, Effort: company.EffortLarge,
		}}}}}
		if !seen[glob] && len(set) < most && len(p.Check(company.PlanRules{})) == 0 {
			set = append(set, glob)
		}
		seen[glob] = true
	}
	for _, name := range rootEntries {
		switch folder, is := strings.CutSuffix(name, "/"); {
		case strings.ContainsAny(name, `*?[]{}\`):
		case is:
			add(folder + "/**")
		default:
			if ext := path.Ext(name); ext != "" && ext != name {
				add("*" + ext)
			}
			add(name)
		}
	}
	for _, usual := range []string{"internal/**", "src/**", "test/**", "tests/**", "docs/**"} {
		add(usual)
	}
	return set
}
