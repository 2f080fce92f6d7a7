package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"company/internal/company"
)

// soloProfile is the profile of the script that replaces the manager and the reviewer.
const soloProfile = "bench-solo"

// soloSettings give the instruction to one worker, and let a script approve the result. Whatever passes the project's
// own checks is delivered.
var soloSettings = []string{"plan.way=one", "agents.manager.model=" + soloProfile,
	"agents.reviewer.model=" + soloProfile}

// soloModel returns the profile of a script. The script costs no money.
func soloModel(script string) map[string]any {
	type m = map[string]any
	return m{"adapter": "scripted", "model": "solo", "script": script, "price": m{"input": 0, "output": 0}}
}

// writeSoloScript writes the script of an attempt. It approves the work and refuses to help a stuck worker. No manager
// plans.
func (a *attempt) writeSoloScript() (file string, err error) {
	type m = map[string]any
	reply := func(tool string, args m) []m { return []m{{"tool": tool, "args": args}} }
	text, err := json.Marshal(m{"rules": []m{
		{"role": company.Manager, "steps": reply("give_up", m{"reason": "the worker works alone"})},
		{"role": company.Reviewer,
			"steps": reply("submit_review",
				m{"verdict": "approve",
					"evidence": slices.Repeat([]string{"nobody reviews this work: the diff is taken as it is"}, mostCriteria),
					"findings": []string{}})},
	}})
	if err != nil {
		return "", err
	}
	file = filepath.Join(a.dir, "solo.yaml")
	return file, os.WriteFile(file, text, 0o600)
}

// mostCriteria is the number of criteria for which the approval has evidence: those of the instruction and of repairs.
const mostCriteria = 32
