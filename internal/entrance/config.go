package entrance

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/office"
	"company/internal/safetext"
	"company/internal/view"
)

// LoadConfig gives the config of an office.
func (ent *Entrance) LoadConfig(ctx context.Context, p office.Paths) (config.Loaded, error) {
	return ent.loadProjectConfig(ctx, p, "")
}

// loadProjectConfig gives the config for work on a project: where that is not the
// office's own, its company.yaml counts for gates and container. A command reads
// a config once.
func (ent *Entrance) loadProjectConfig(ctx context.Context, p office.Paths, project string) (config.Loaded, error) {
	if project == p.Repo {
		project = ""
	}
	key := [2]string{p.Root, project}
	if loaded, ok := ent.configs[key]; ok {
		return loaded, nil
	}
	loaded, err := ent.readConfig(ctx, p, project)
	if err == nil {
		if ent.configs == nil {
			ent.configs = map[[2]string]config.Loaded{}
		}
		ent.configs[key] = loaded
	}
	return loaded, err
}

// readConfig reads a config as it is now.
func (ent *Entrance) readConfig(ctx context.Context, p office.Paths, project string) (config.Loaded, error) {
	flags, err := ent.readFlags()
	if err != nil {
		return config.Loaded{}, err
	}
	if err := p.CheckConfigThere(); err != nil {
		return config.Loaded{}, err
	}
	o := ent.LoadOptions(p, flags)
	o.Project = project
	return config.Load(ctx, o)
}

// LoadOptions are those of a config of the office, with these flags.
func (ent *Entrance) LoadOptions(p office.Paths, flags map[string]string) config.LoadOptions {
	return config.LoadOptions{OfficeDir: p.Root, Checkout: p.Repo, Env: ent.Console.LookupEnv, Environ: ent.Console.Environ, Flags: flags}
}

// LoadReady is the office and a config that it can work with.
func (ent *Entrance) LoadReady(ctx context.Context) (office.Paths, config.Loaded, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return office.Paths{}, config.Loaded{}, err
	}
	loaded, err := ent.LoadConfig(ctx, paths)
	if err != nil {
		return office.Paths{}, config.Loaded{}, err
	}
	return paths, loaded, loaded.CheckKeyFiles()
}

// LoadRecorded is a config with the settings of a record above the person's own, for a
// replay without an office: no company.yaml is read.
func (ent *Entrance) LoadRecorded(ctx context.Context, values map[string]string) (config.Loaded, error) {
	flags, err := ent.readFlags()
	if err != nil {
		return config.Loaded{}, err
	}
	o := ent.LoadOptions(office.Paths{}, flags)
	o.Record = values
	loaded, err := config.Load(ctx, o)
	if err != nil {
		return config.Loaded{}, err
	}
	return loaded, loaded.CheckKeyFiles()
}

// UseModel makes all roles use a model profile of the office's config. A role whose model --set names
// keeps that one. An empty profile changes nothing.
func (ent *Entrance) UseModel(ctx context.Context, profile string) error {
	if profile == "" {
		return nil
	}
	profiles, err := ent.ModelProfiles(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(profiles, profile) {
		fix := "profiles of the config: " + strings.Join(profiles, ", ")
		if near := config.NearestName(profile, profiles, 2); near != "" {
			fix = "did you mean " + near + "? " + fix
		}
		return company.E(company.EUsage, fmt.Sprintf("unknown model profile %q", safetext.EscapeLine(profile, 80))).
			Because("--model takes the name of a profile under models: in the config").Fix(fix)
	}
	var flags []string
	for _, role := range officeapp.AllRoles {
		flags = append(flags, "agents."+string(role)+".model="+profile)
	}
	ent.ConfigFlags = append(flags, ent.ConfigFlags...)
	return nil
}

// ModelProfiles lists the model profiles of the office's config by name.
func (ent *Entrance) ModelProfiles(ctx context.Context) ([]string, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return nil, err
	}
	loaded, err := ent.readConfig(ctx, paths, "")
	return slices.Sorted(maps.Keys(loaded.Config.Models)), err
}

// readFlags are the keys of the config that the command line sets.
func (ent *Entrance) readFlags() (map[string]string, error) {
	flags := map[string]string{}
	for _, kv := range ent.ConfigFlags {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, company.E(company.EUsage, fmt.Sprintf("--set %q is not key=value", kv)).Fix("--set workers.max=5")
		}
		flags[k] = v
	}
	return flags, nil
}

// projectConfigs reads the configs of an office's projects, for each task anew:
// people change them while an office works.
type projectConfigs struct {
	entrance *Entrance
	paths    office.Paths
}

// ProjectConfigs reads the configs of the projects of an office.
func (ent *Entrance) ProjectConfigs(paths office.Paths) officeapp.ConfigSource {
	return projectConfigs{ent, paths}
}

func (c projectConfigs) ConfigFor(ctx context.Context, project string) (config.Loaded, error) {
	if project == c.paths.Repo {
		project = ""
	}
	loaded, err := c.entrance.readConfig(ctx, c.paths, project)
	if err == nil {
		c.paths.RefreshKeptConfig()
	}
	return loaded, err
}

// ChangeConfig changes one key of a config file and tells what came of it: which values it
// moved, and from when on they count for the company at work in the office. Without an office
// nobody is at work.
func (ent *Entrance) ChangeConfig(ctx context.Context, paths office.Paths, c config.Change) (config.ChangeReport, error) {
	return ent.changeConfig(ctx, paths, ent.LoadOptions(paths, nil), c)
}

func (ent *Entrance) changeConfig(ctx context.Context, paths office.Paths, o config.LoadOptions, c config.Change) (config.ChangeReport, error) {
	changed, err := config.ChangeFile(ctx, o, c)
	if err != nil {
		return config.ChangeReport{}, err
	}
	holder := 0
	if paths.Root != "" {
		if h := office.FindHolder(paths); h != nil && h.Socket != "" {
			holder = h.PID
		}
	}
	return changed.Report(c, holder, officeapp.IsSettingOfTasks), nil
}

// ChangeOfficeConfig changes one key of the office's own company.yaml. EUsage: there is none.
func (ent *Entrance) ChangeOfficeConfig(ctx context.Context, c config.Change) (config.ChangeReport, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return config.ChangeReport{}, err
	}
	if _, err := os.Lstat(paths.Config); errors.Is(err, fs.ErrNotExist) {
		return config.ChangeReport{}, company.E(company.EUsage, "there is no "+config.ConfigName+" here").
			Fix("change your own file with --user, or write one for the project: company init")
	}
	c.File = paths.Config
	return ent.ChangeConfig(ctx, paths, c)
}

// ChangeOwnConfig changes one key of the user's own file for the repository of the checkout.
func (ent *Entrance) ChangeOwnConfig(ctx context.Context, c config.Change) (config.ChangeReport, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return config.ChangeReport{}, err
	}
	checkout, err := ent.FindCheckout(paths)
	if err != nil {
		return config.ChangeReport{}, err
	}
	if c.File, err = config.RepositoryFile(ent.Console.LookupEnv, checkout); err != nil {
		return config.ChangeReport{}, err
	}
	c.Begin = beginOwnFile(checkout)
	return ent.changeConfig(ctx, paths, ent.loadOptionsFor(paths, checkout), c)
}

// ListConfig is every key of the config of a project with its value and where it comes
// from; of no project: of the office.
func (ent *Entrance) ListConfig(ctx context.Context, project string) (view.ConfigList, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return view.ConfigList{}, err
	}
	digest, err := config.FileDigest(paths.Config) // before the values: a change between the two is noticed
	if err != nil {
		return view.ConfigList{}, err
	}
	var loaded config.Loaded
	if project == "" {
		loaded, err = ent.LoadConfig(ctx, paths)
	} else {
		_, loaded, err = ent.LoadReadyProject(ctx, paths, project)
	}
	if err != nil {
		return view.ConfigList{}, err
	}
	list, values := view.ConfigList{Office: paths.Root, File: paths.Config, Digest: digest, Hash: loaded.Hash}, loaded.Config.ShownValues()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		list.Values = append(list.Values, view.ConfigValue{Key: key, Value: values[key], Origin: loaded.Origin[key]})
	}
	return list, nil
}

// trackedFile is the company.yaml that a line for a checkout is written to.
func trackedFile(paths office.Paths, checkout string) (string, error) {
	switch _, missing := os.Lstat(paths.Config); {
	case checkout != paths.Repo:
		return "", company.E(company.EUsage, "this checkout is not the office's own").Because("the office is at " + paths.Root).
			Fix("run it in the office's folder, or leave --project out: your own file for this repository")
	case errors.Is(missing, fs.ErrNotExist):
		return "", company.E(company.EUsage, "there is no "+config.ConfigName+" here").Fix("company init writes one; or leave --project out: your own file for this repository")
	}
	return paths.Config, nil
}

// ConfigTarget says which file a change is for; without any it is the project's company.yaml.
type ConfigTarget struct{ User, Project, Own bool }

// ChangeTargetConfig changes one key of the file that a target means.
func (ent *Entrance) ChangeTargetConfig(ctx context.Context, t ConfigTarget, c config.Change) (config.ChangeReport, error) {
	switch {
	case t.User && t.Project:
		return config.ChangeReport{}, company.E(company.EUsage, "--user and --project name two files").Fix("leave one of them out")
	case t.Own && (t.User || t.Project):
		return config.ChangeReport{}, company.E(company.EUsage, "--own names another file than --user and --project").Fix("leave one of them out")
	case t.Own:
		return ent.ChangeOwnConfig(ctx, c)
	case !t.User:
		return ent.ChangeOfficeConfig(ctx, c)
	}
	paths, err := ent.FindOffice()
	if err != nil { // a user's own file needs no project
		paths = office.Paths{}
	}
	if c.File, err = config.UserFile(ent.Console.LookupEnv); err != nil {
		return config.ChangeReport{}, err
	}
	return ent.ChangeConfig(ctx, paths, c)
}
