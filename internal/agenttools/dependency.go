package agenttools

import (
	"context"
	"encoding/json"

	"company/internal/agent"
	"company/internal/company"
	"company/internal/depaccess"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/marks/away"
	"company/internal/toolproto"
)

// Dependencies is what a run may fetch; *depaccess.Run is one.
type Dependencies interface {
	// Add lets a package be fetched, if it may. An error ends the run.
	Add(ctx context.Context, d company.Dependency) (depaccess.Answer, error)
	// Environment is what every command gets beside its own.
	Environment() map[string]string
}

var _ Dependencies = (*depaccess.Run)(nil)

// registryKinds lists the kinds of registries that have clients, as JSON.
func registryKinds() string {
	var kinds []string
	for _, e := range catalog.Of[ecosystem.Client]() {
		kinds = append(kinds, e.Registry().Name)
	}
	text, _ := json.Marshal(kinds)
	return string(text)
}

func (f *toolFactory) addDependency() agent.Tool {
	return newTool(f, "add_dependency",
		`Ask for a package that no lock file names; few are granted.`,
		`{"type":"object","properties":{
"ecosystem":{"enum":`+registryKinds()+`},
"name":{"type":"string","minLength":1,"maxLength":214},
"version":{"type":"string","maxLength":128}},
"required":["ecosystem","name"],"additionalProperties":false}`, false,
		func(ctx context.Context, d company.Dependency) (agent.Result, error) {
			if f.Dependencies == nil {
				return agent.Result{Text: "Not added: this run adds no dependencies.", IsError: true}, nil
			}
			back := away.Begin(ctx)
			a, err := f.Dependencies.Add(ctx, d)
			back()
			if err != nil || a.Refused {
				return agent.Result{Text: a.Text, IsError: a.Refused}, err
			}
			if a.Prepare != "" {
				r, err := f.Toolbox.Run(ctx, toolproto.RunRequest{Command: a.Prepare, TimeoutS: 30})
				if err != nil {
					return agent.Result{}, err
				}
				if r.ExitCode != 0 {
					return agent.Result{Text: "It may be fetched, but the client could not be set up: " + r.Text(), IsError: true}, nil
				}
			}
			return agent.Result{Text: a.Text}, nil
		})
}

// commandEnv is what commands get so that package clients find the mirrors.
func (f *toolFactory) commandEnv() map[string]string {
	if f.Dependencies == nil {
		return nil
	}
	return f.Dependencies.Environment()
}
