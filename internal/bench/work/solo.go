package work

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"company/internal/company"
)

// soloProfile is the profile of the script that stands for the manager and the reviewer.
const soloProfile = "bench-solo"

// soloSettings have one worker do the instruction, and a script approve it: what the project's own
// checks let through is delivered.
var soloSettings = []string{"plan.way=one", "agents.manager.model=" + soloProfile, "agents.reviewer.model=" + soloProfile}

// soloModel is the profile of a script. The script costs nothing.
func soloModel(script string) map[string]any {
	type m = map[string]any
	return m{"adapter": "scripted", "model": "solo", "script": script, "price": m{"input": 0, "output": 0}}
}

// writeSoloScript writes the script of an attempt: an approval, and no help for a worker in need
// of it. No manager plans.
func (a *attempt) writeSoloScript() (file string, err error) {
	type m = map[string]any
	reply := func(tool string, args m) []m { return []m{{"tool": tool, "args": args}} }
	text, err := json.Marshal(m{"rules": []m{
		{"role": company.Manager, "steps": reply("give_up", m{"reason": "the worker works alone"})},
		{"role": company.Reviewer, "steps": reply("submit_review", m{"verdict": "approve", "evidence": slices.Repeat([]string{"nobody reviews this work: the diff is taken as it is"}, mostCriteria), "findings": []string{}})},
	}})
	if err != nil {
		return "", err
	}
	file = filepath.Join(a.dir, "solo.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// mostCriteria is for how many criteria the approval names evidence: those of the instruction, and
// those of repairs.
const mostCriteria = 32
