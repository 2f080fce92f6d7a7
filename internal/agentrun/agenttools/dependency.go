package agenttools

import (
	"context"
	"encoding/json"

	"company/internal/agent"
	"company/internal/agentrun/depaccess"
	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/catalog"
	"company/internal/toolbox/toolproto"
)

// Dependencies controls the packages that a run may fetch. *depaccess.Run implements it.
type Dependencies interface {
	// Add allows a package to be fetched, if it is permitted. An error ends the run.
	Add(ctx context.Context, d company.Dependency) (depaccess.Answer, error)
	// IsEnabled reports whether any registry is served. It is the same throughout a run.
	IsEnabled() bool
	// Environment returns variables that every command gets in addition to its own.
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
		`Ask for a package that no lock file names; few are granted. Then run its client, and commit its lock file.`,
		`{"type":"object","properties":{
"ecosystem":{"enum":`+registryKinds()+`},
"name":{"type":"string","minLength":1,"maxLength":214},
"version":{"type":"string","maxLength":128}},
"required":["ecosystem","name"],"additionalProperties":false}`, false,
		func(ctx context.Context, dependency company.Dependency) (agent.Result, error) {
			if f.Dependencies == nil {
				return agent.Result{Text: "Not added: this run adds no dependencies.", IsError: true}, nil
			}
			answer, err := f.Dependencies.Add(ctx, dependency)
			if err != nil || answer.Refused {
				return agent.Result{Text: answer.Text, IsError: answer.Refused}, err
			}
			if answer.Prepare != "" {
				runResult, err := f.Toolbox.Run(ctx, toolproto.RunRequest{Command: answer.Prepare, TimeoutS: 30})
				if err != nil {
					return agent.Result{}, err
				}
				if runResult.ExitCode != 0 {
					return agent.Result{Text: "It may be fetched, but the client could not be set up: " + runResult.Text(),
						IsError: true}, nil
				}
			}
			return agent.Result{Text: answer.Text}, nil
		})
}

// commandEnv returns the environment with which package clients find the mirrors.
func (f *toolFactory) commandEnv() map[string]string {
	if f.Dependencies == nil {
		return nil
	}
	return f.Dependencies.Environment()
}
