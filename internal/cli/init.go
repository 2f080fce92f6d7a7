package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/diagnose"
	"company/internal/forge"
	"company/internal/office"
	"company/internal/safetext"
)

// initTimeout bounds what init looks at.
const initTimeout = 20 * time.Second

type initOptions struct {
	force  bool
	dryRun bool
}

func newInit(a *app) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use: "init", Short: "Write a company.yaml with what was found here",
		Example: "  company init\n  company init --dry-run\n  company init --force",
		Long: `Looks at the repository you stand in and at this machine (checks, base branch,
remote, models, keys), and writes a company.yaml that says what was found and
every key there is with its default. Nothing needs it: without one the defaults
hold. It also hides the office's own folders from git status, by the list of
.git/info/exclude, and makes nothing else.

A company.yaml that is there is kept; --force writes a new one and keeps the
old one beside it.`,
		RunE: func(c *cobra.Command, _ []string) error { return a.runInit(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.force, "force", false, "write a new file where there is one; the old one is kept as company.yaml.bak")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "print the file and write nothing")
	return c
}

// initFindings are what init saw, for people and programs.
type initFindings struct {
	Repository string   `json:"repository"`
	Base       string   `json:"base,omitempty"`
	Remote     string   `json:"remote,omitempty"` // owner/name; nothing else of an address
	Forge      string   `json:"forge"`            // where a pull request would go, for people
	Toolchains []string `json:"toolchains"`
	Checks     []string `json:"checks"`
	Model      string   `json:"model"`
	Keys       []string `json:"keys"` // NAME SET or NAME NOT SET
}

func (a *app) runInit(ctx context.Context, o initOptions) error {
	ctx, cancel := context.WithTimeout(ctx, initTimeout)
	defer cancel()
	dir, err := a.initDir()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, config.ConfigName)
	_, err = os.Lstat(path)
	there := !errors.Is(err, fs.ErrNotExist)
	if there && !o.force && !o.dryRun {
		return alreadyExistsError(path)
	}
	draft, found, err := a.draftConfig(ctx, dir)
	if err != nil {
		return err
	}
	text := draft.Render()
	if err := a.validateDraft(ctx, text); err != nil {
		return err
	}
	if o.dryRun {
		if a.output == "json" {
			return a.printJSON(a.out, map[string]any{"schema_version": 1, "found": found, "text": string(text)})
		}
		_, err := a.out.Write(text)
		return err
	}
	backup, err := installFile(path, text, o.force)
	if err != nil {
		return err
	}
	paths, err := office.Find(office.FindOptions{Dir: dir, Office: dir})
	var exclude string
	var hidden []string
	if err == nil {
		exclude, hidden, err = office.ExcludeFromGit(ctx, paths)
	}
	if err != nil {
		return err
	}
	if a.output == "json" {
		return a.printJSON(a.out, map[string]any{"schema_version": 1, "file": path, "backup": backup, "found": found, "exclude_file": exclude, "excluded": emptyIfNil(hidden)})
	}
	fmt.Fprintf(a.out, "written: %s\n", safetext.EscapeLine(path, 400))
	if backup != "" {
		fmt.Fprintf(a.out, "the old one: %s\n", safetext.EscapeLine(backup, 400))
	}
	if exclude != "" {
		fmt.Fprintf(a.out, "hidden from git: %s (in %s)\n", safetext.EscapeLine(strings.Join(hidden, " "), 400), safetext.EscapeLine(exclude, 400))
	}
	for _, line := range found.renderLines() {
		fmt.Fprintf(a.out, "  %s\n", safetext.EscapeLine(line, 300))
	}
	_, err = fmt.Fprintln(a.out, `next: company doctor, then company submit "…"`)
	return err
}

func alreadyExistsError(path string) error {
	return company.E(company.EConflict, "there is a company.yaml already: "+path).
		Fix("company config check looks at it; company init --force writes a new one and keeps the old one beside it")
}

// initDir is the folder that gets the file: the one named, else the top of the
// checkout.
func (a *app) initDir() (string, error) {
	if a.officeDir == "" {
		return a.findCheckout(office.Paths{})
	}
	dir, err := filepath.Abs(a.officeDir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(dir); err == nil && !info.IsDir() {
			err = errors.New("it is not a folder")
		}
	}
	if err != nil {
		return "", company.E(company.EUsage, "there is no folder "+a.officeDir).Wrap(err).Fix("name a folder that exists with --office")
	}
	return dir, nil
}

// draftConfig looks around and says what the file is to hold.
func (a *app) draftConfig(ctx context.Context, dir string) (config.ConfigDraft, initFindings, error) {
	loaded, err := config.Load(ctx, config.LoadOptions{Env: a.env}) // what holds without the file
	if err != nil {
		return config.ConfigDraft{}, initFindings{}, err
	}
	c := loaded.Config
	found := initFindings{Repository: dir, Forge: "local", Toolchains: []string{}, Checks: []string{}}
	seen, serr := diagnose.CheckRepo(ctx, c, dir, "")
	forgeNote := "Found: no remote"
	switch {
	case serr == nil:
		found.Base = seen.Base.Branch
		if r, ok := forge.ParseRemote(seen.Base.RemoteURL); ok {
			found.Remote = r.String()
		}
		if f := a.checker().CheckForge(ctx, c, seen.Base.RemoteURL); f.Found != "" {
			found.Forge, forgeNote = f.Found, "Found: "+f.Found
			if f.Fix != "" {
				forgeNote += "; " + f.Fix
			}
		}
		found.Toolchains = append(found.Toolchains, seen.Project.Toolchains...)
		found.Checks = append(found.Checks, seen.Project.Notes...)
		serr = seen.GatesError
	case ctx.Err() != nil:
		return config.ConfigDraft{}, initFindings{}, serr
	}
	if serr != nil { // it can be put right later; the file does not depend on it
		found.Checks = []string{"not looked for: " + diagnose.ErrorResult(serr).Found}
	}
	models, how := a.pickModels(ctx, loaded)
	found.Model = how
	for _, name := range a.keyNames(c, models) {
		found.Keys = append(found.Keys, name+" "+a.isSet(name))
	}
	checks := make([]string, len(found.Checks))
	for i, note := range found.Checks {
		checks[i] = "Found: " + note
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
			"to set it. company config check looks at this file, company config show tells",
			"what holds and where it comes from.",
			"",
			"If git tracks this file, what it asks for beyond the defaults counts only after",
			"company trust. Keys never stand here: a key names the variable that holds it.",
		},
		Models: models,
		Notes: map[string][]string{
			"models": append([]string{how}, "Keys in the environment: "+strings.Join(found.Keys, ", ")),
			"git":    {base},
			"forge":  {forgeNote},
			"gates":  checks,
		},
	}, found, nil
}

// modelVendors are the services whose keys are looked for, in the order in which
// the first that has one is taken.
var modelVendors = []struct{ adapter, key, model string }{
	{"anthropic", "ANTHROPIC_API_KEY", "claude-sonnet-4-6"},
	{"openai", "OPENAI_API_KEY", "gpt-5"},
}

// pickModels is the profile to write, and how it was found. What the user's own
// config or the environment says stays there.
func (a *app) pickModels(ctx context.Context, loaded config.Loaded) (map[string]config.Model, string) {
	if at := loaded.Origin["models.default.adapter"]; at != config.OriginDefault {
		m := loaded.Config.Models["default"]
		return nil, "Found: " + strings.TrimSpace(m.Adapter+" "+m.Model) + ", from " + at
	}
	lctx, cancel := context.WithTimeout(ctx, diagnose.LocalDialTimeout)
	defer cancel()
	if at := officeapp.StandardAddress("ollama", a.envValue); diagnose.DialServer(lctx, at) == nil {
		model, err := officeapp.DefaultModel(lctx, a.envValue)
		if err != nil {
			return nil, "Found: Ollama at " + at + ", which is the default, and no model on it: ollama pull llama3"
		}
		return nil, "Found: Ollama at " + at + " with " + model + ", which is the default"
	}
	for _, v := range modelVendors {
		if _, ok := officeapp.ModelDrivers[v.adapter]; ok && a.isSet(v.key) == set {
			return map[string]config.Model{"default": {Adapter: v.adapter, Model: v.model, APIKeyEnv: v.key}}, "Found: " + v.key + "; name the model that you want"
		}
	}
	return nil, "Found: no model. Start Ollama, or set a key, or name a server with base_url."
}

const set, notSet = "SET", "NOT SET"

// isSet says whether a key is set; no output ever shows more of it (ADP-8).
func (a *app) isSet(name string) string {
	if v, _ := a.env(name); v != "" {
		return set
	}
	return notSet
}

// keyNames are the variables that matter here.
func (a *app) keyNames(c config.Config, models map[string]config.Model) []string {
	names := []string{c.Forge.TokenEnv}
	for _, v := range modelVendors {
		names = append(names, v.key)
	}
	for _, all := range []map[string]config.Model{c.Models, models} {
		for _, m := range all {
			names = append(names, m.APIKeyEnv)
		}
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(s string) bool { return s == "" })
}

// validateDraft holds the file to what every command holds it to, before it is
// where commands look.
func (a *app) validateDraft(ctx context.Context, text []byte) (err error) {
	bug := func(err error) error {
		return company.E(company.EInternal, "the file that was made here does not load").Wrap(err).Fix("write one by hand: company config schema")
	}
	dir, err := os.MkdirTemp("", "company-init-")
	if err != nil {
		return bug(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(dir, config.ConfigName), text, 0o600); err != nil {
		return bug(err)
	}
	if _, err := config.Load(ctx, config.LoadOptions{OfficeDir: dir, Env: a.env}); err != nil {
		return bug(err)
	}
	return nil
}

// installFile puts the file in its place, whole or not at all. With force an
// existing file is kept under the name that it returns. Without force an
// existing file is EConflict, also one that appears meanwhile.
func installFile(path string, text []byte, force bool) (backup string, err error) {
	fail := func(err error) error {
		return company.E(company.EConfig, path+" cannot be written").Wrap(err).Fix("see that the folder is yours and has space")
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".company.yaml-")
	if err != nil {
		return "", fail(err)
	}
	defer func() {
		if rm := os.Remove(f.Name()); err == nil && rm != nil && !errors.Is(rm, fs.ErrNotExist) {
			err = fail(rm)
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return "", fail(err)
	}
	// A link fails where there is a file: none is written over.
	err = os.Link(f.Name(), path)
	if err == nil {
		return "", nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return "", fail(err)
	}
	if !force {
		return "", alreadyExistsError(path)
	}
	for n := 1; n < 1000; n++ {
		backup = path + ".bak"
		if n > 1 {
			backup = fmt.Sprintf("%s.bak%d", path, n)
		}
		if err = os.Link(path, backup); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return "", fail(err)
	}
	return backup, nil
}

func (f initFindings) renderLines() []string {
	base := f.Base
	if f.Remote != "" {
		base += " of " + f.Remote
	}
	out := []string{"base    " + base, "model   " + strings.TrimPrefix(f.Model, "Found: "), "keys    " + strings.Join(f.Keys, ", ")}
	out = append(out, "forge   "+f.Forge)
	for _, c := range f.Checks {
		out = append(out, "checks  "+c)
	}
	return out
}
