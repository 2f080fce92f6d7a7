package diagnose

import (
	"context"
	"slices"
	"strings"

	"company/internal/adapters"
	officeapp "company/internal/app"

	"company/internal/forge"
	"company/internal/gitops/gitindex"
	"company/internal/office/config"
)

// Findings holds the results of an inspection of a repository, for people and programs.
type Findings struct {
	Repository string   `json:"repository"`
	Base       string   `json:"base,omitempty"`
	Remote     string   `json:"remote,omitempty"` // owner/name; no other part of the address
	Forge      string   `json:"forge"`            // target of pull requests, for people
	Toolchains []string `json:"toolchains"`
	Checks     []string `json:"checks"`
	// Proposals are commands that the repository's maintainers run. Narrower lists smaller
	// alternatives to a detected test.
	Proposals []Proposed `json:"proposals"`
	Narrower  []string   `json:"narrower,omitempty"`
	Problems  []string   `json:"problems,omitempty"` // definitions that cannot be read
	Untested  string     `json:"untested,omitempty"` // how to add a test if none was found
	Model     string     `json:"model"`
	Keys      []string   `json:"keys"` // NAME SET or NAME NOT SET
}

// DraftConfig inspects the repository and returns a draft of its config file.
func (d *Checker) DraftConfig(ctx context.Context, dir string) (config.ConfigDraft, Findings, error) {
	loaded, err := config.Load(ctx, config.LoadOptions{Env: d.Env}) // the settings without the file
	if err != nil {
		return config.ConfigDraft{}, Findings{}, err
	}
	cfg := loaded.Config
	found := Findings{Repository: dir, Forge: "local", Toolchains: []string{}, Checks: []string{}, Proposals: []Proposed{}}
	seen, serr := CheckRepo(ctx, cfg, dir, "")
	forgeNote := "Found: no remote"
	switch {
	case serr == nil:
		found.Base = seen.Base.Branch
		if r, ok := forge.ParseRemote(seen.Base.RemoteURL); ok {
			found.Remote = r.String()
		}
		if result := d.CheckForge(ctx, cfg, seen.Base.RemoteURL); result.Found != "" {
			found.Forge, forgeNote = result.Found, "Found: "+result.Found
			if result.Fix != "" {
				forgeNote += "; " + result.Fix
			}
		}
		found.Toolchains = append(found.Toolchains, seen.Project.Toolchains...)
		found.Checks = append(found.Checks, seen.Project.Notes...)
		if serr = seen.GatesError; serr == nil {
			found.addProposals(cfg, seen)
		}
		if serr == nil && d.needsPackages(cfg, seen.Project) {
			if img, err := d.previewImage(ctx, cfg, dir, seen.Project); err == nil {
				found.Checks = append(found.Checks, img.Notes...)
				for _, f := range img.Fetched {
					found.Checks = append(found.Checks, "fetched: "+f)
				}
			}
		}
	case ctx.Err() != nil:
		return config.ConfigDraft{}, Findings{}, serr
	}
	if serr != nil { // the error can be fixed later; the file does not depend on it
		result := ErrorResult(serr)
		found.Checks = []string{"not checked: " + result.Found}
		if result.Fix != "" {
			found.Checks = append(found.Checks, "fix: "+result.Fix)
		}
	}
	models, how := d.pickModels(ctx, loaded)
	found.Model = how
	for _, name := range d.keyNames(cfg, models) {
		found.Keys = append(found.Keys, name+" "+d.isSet(name))
	}
	checks := make([]string, len(found.Checks))
	for i, note := range found.Checks {
		checks[i] = "Found: " + note
	}
	for _, line := range found.proposalLines() {
		checks = append(checks, "Maintainers: "+line)
	}
	base := "Found: no branch to start from"
	if found.Base != "" {
		base = "Found: " + found.Base
		if found.Remote != "" {
			base += ", of " + found.Remote
		}
	}
	return config.ConfigDraft{
		About: []string{
			"company.yaml: this folder is an office of company.",
			"",
			"A line that begins with # and no space is a key with its default; remove the #",
			"to set it. company config check checks this file, company config show prints all",
			"values and their sources. company init --all --dry-run prints all keys.",
			"",
			"This file is trusted because company init wrote it. If you edit it by hand, run",
			"company trust afterwards. Never put API keys here: name the environment variable",
			"that holds the key.",
		},
		Models: models,
		Notes: map[string][]string{
			"container": imageNotes(ctx, dir),
			"models":    append([]string{how}, "Keys in the environment: "+strings.Join(found.Keys, ", ")),
			"git":       {base},
			"forge":     {forgeNote},
			"gates":     checks,
		},
	}, found, nil
}

// imageNotes lists the files in which a repository describes its own image.
func imageNotes(ctx context.Context, dir string) (notes []string) {
	found, err := gitindex.Tracked(ctx, dir, "Dockerfile", ".devcontainer/devcontainer.json", ".devcontainer.json")
	if err != nil {
		return nil // the check of the repository reports it
	}
	for _, f := range found {
		notes = append(notes, "Found: "+f.Path+"; to build the image from it: dockerfile: "+f.Path)
	}
	return notes
}

// modelVendors lists the services whose keys pickModels looks for. The first service with a key
// wins.
var modelVendors = []struct{ adapter, key, model string }{
	{"anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-6"},
	{"openai", "OPENAI_API_KEY", "gpt-5"},
}

// pickModels returns the profile to write and how it was found. It returns a profile only if a
// known key is set, Ollama does not respond, and no config or environment variable chooses a
// model.
func (d *Checker) pickModels(ctx context.Context, loaded config.Loaded) (map[string]config.Model, string) {
	if at := loaded.Origin["models.default.adapter"]; at != config.OriginDefault {
		m := loaded.Config.Models["default"]
		return nil, "Found: " + strings.TrimSpace(m.Adapter+" "+m.Model) + ", from " + at
	}
	lctx, cancel := context.WithTimeout(ctx, LocalDialTimeout)
	defer cancel()
	if at := officeapp.StandardAddress("ollama", d.envValue); DialServer(lctx, at) == nil {
		model, err := officeapp.DefaultModel(lctx, d.envValue)
		if err != nil {
			return nil, "Found: Ollama at " + at + " (the default), but it has no model: ollama pull llama3"
		}
		return nil, "Found: Ollama at " + at + " with " + model + " (the default)"
	}
	for _, v := range modelVendors {
		if _, ok := officeapp.ModelDrivers[v.adapter]; ok && d.isSet(v.key) == set {
			return map[string]config.Model{"default": {Adapter: v.adapter, Model: v.model, APIKeyEnv: v.key}}, "Found: " +
				v.key + "; set the model that you want"
		}
	}
	return nil, noModelFound
}

const set, notSet = "SET", "NOT SET"

// isSet returns the text for a set or an unset key. No output shows more of the key (ADP-8).
func (d *Checker) isSet(name string) string {
	if v, _ := d.Env(name); v != "" {
		return set
	}
	return notSet
}

// keyNames returns the names of the environment variables of the forge and the models.
func (d *Checker) keyNames(cfg config.Config, models map[string]config.Model) []string {
	names := []string{cfg.Forge.TokenEnv}
	for _, v := range modelVendors {
		names = append(names, v.key)
	}
	for _, all := range []map[string]config.Model{cfg.Models, models} {
		for _, m := range all {
			names = append(names, m.APIKeyEnv)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
}

// noModelFound is Findings.Model if there is no model to ask.
const noModelFound = "Found: none. Start Ollama, set an API key, or set base_url of a server."

// DescribeNextStep returns what a person does after company init.
func (f Findings) DescribeNextStep() string {
	if f.Model == noModelFound {
		return "next: choose a model: " + adapters.ChooseModel + "\nthen: company doctor, and company submit \"…\""
	}
	return `next: company doctor, then company submit "…"`
}

// RenderLines returns the findings as lines for people.
func (f Findings) RenderLines() []string {
	base := f.Base
	if f.Remote != "" {
		base += " of " + f.Remote
	}
	out := []string{"base " + base, "model " + strings.TrimPrefix(f.Model, "Found: "),
		"keys " + strings.Join(f.Keys, ", ")}
	out = append(out, "forge "+f.Forge)
	for _, c := range f.Checks {
		out = append(out, "checks "+c)
	}
	for _, line := range f.proposalLines() {
		out = append(out, "maintainers "+line)
	}
	if f.Untested != "" {
		out = append(out, "! no test was found, so results will be marked UNTESTED; to add one: "+f.Untested)
	}
	return out
}

// addProposals adds the commands that the repository's maintainers run.
func (f *Findings) addProposals(cfg config.Config, seen RepoCheck) {
	f.Proposals, f.Problems = newProposed(seen.Project.Proposals), seen.Project.Proposals.Problems
	for _, n := range seen.Project.Narrower {
		f.Narrower = append(f.Narrower, n.Gate+": "+n.String())
	}
	if untestedLine(cfg, seen) != "" {
		f.Untested = untestedRemedy(seen.Project)
	}
}

// proposalLines returns the proposals as lines for people.
func (f Findings) proposalLines() []string {
	out := proposalLines(f.Proposals)
	for _, n := range f.Narrower {
		out = append(out, "if that takes too long, "+n)
	}
	return append(out, f.Problems...)
}
