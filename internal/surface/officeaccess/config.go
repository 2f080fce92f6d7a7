package officeaccess

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/lib/safetext"
	"company/internal/office"
	"company/internal/office/config"
	"company/internal/present/view"
)

// LoadConfig returns the config of an office.
func (ent *Entrance) LoadConfig(ctx context.Context, p office.Paths) (config.Loaded, error) {
	return ent.loadProjectConfig(ctx, p, "")
}

// loadProjectConfig returns the config for work on a project. The project's company.yaml sets
// gates and container if it isn't the office's own project. Each config is read once per command.
func (ent *Entrance) loadProjectConfig(ctx context.Context, paths office.Paths, project string) (config.Loaded, error) {
	if project == paths.Repo {
		project = ""
	}
	key := [2]string{paths.Root, project}
	if loaded, ok := ent.configs[key]; ok {
		return loaded, nil
	}
	loaded, err := ent.readConfig(ctx, paths, project)
	if err == nil {
		if ent.configs == nil {
			ent.configs = map[[2]string]config.Loaded{}
		}
		ent.configs[key] = loaded
	}
	return loaded, err
}

// readConfig reads a config from its files.
func (ent *Entrance) readConfig(ctx context.Context, paths office.Paths, project string) (config.Loaded, error) {
	flags, err := ent.readFlags()
	if err != nil {
		return config.Loaded{}, err
	}
	if err := paths.CheckConfigThere(); err != nil {
		return config.Loaded{}, err
	}
	loadOptions := ent.LoadOptions(paths, flags)
	loadOptions.Project = project
	return config.Load(ctx, loadOptions)
}

// LoadOptions returns the options to load an office's config with these flags.
func (ent *Entrance) LoadOptions(p office.Paths, flags map[string]string) config.LoadOptions {
	return config.LoadOptions{OfficeDir: p.Root, Checkout: p.Repo, Env: ent.Console.LookupEnv,
		Environ: ent.Console.Environ, Flags: flags}
}

// LoadReady returns the office and its config, and checks the config's key files.
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

// LoadRecorded returns a config for a replay without an office. The settings of the record
// override the user's own, and no company.yaml is read.
func (ent *Entrance) LoadRecorded(ctx context.Context, values map[string]string) (config.Loaded, error) {
	flags, err := ent.readFlags()
	if err != nil {
		return config.Loaded{}, err
	}
	loadOptions := ent.LoadOptions(office.Paths{}, flags)
	loadOptions.Record = values
	loaded, err := config.Load(ctx, loadOptions)
	if err != nil {
		return config.Loaded{}, err
	}
	return loaded, loaded.CheckKeyFiles()
}

// UseModel makes all roles use a model profile of the office's config. A role with a model set by
// --set keeps it. An empty profile changes nothing.
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

// readFlags returns the config keys that the command line sets.
func (ent *Entrance) readFlags() (map[string]string, error) {
	flags := map[string]string{}
	for _, kv := range ent.ConfigFlags {
		k, v, ok := strings.Cut(kv, "=")
		if !ok {
			return nil, company.E(company.EUsage, fmt.Sprintf("invalid --set %q: must be key=value", kv)).Fix("--set workers.max=5")
		}
		flags[k] = v
	}
	return flags, nil
}

// projectConfigs reads the configs of an office's projects. It reads them for each task, because
// people change them while an office is running.
type projectConfigs struct {
	entrance *Entrance
	paths    office.Paths
}

// ProjectConfigs returns a source for the configs of an office's projects.
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

// ChangeConfig changes one key of a config file. It reports the values that changed, and when they
// take effect for the running company. Without an office there is no running company.
func (ent *Entrance) ChangeConfig(
	ctx context.Context, paths office.Paths, change config.Change,
) (config.ChangeReport, error) {
	return ent.changeConfig(ctx, paths, ent.LoadOptions(paths, nil), change)
}

func (ent *Entrance) changeConfig(
	ctx context.Context, paths office.Paths, loadOptions config.LoadOptions, change config.Change,
) (config.ChangeReport, error) {
	changed, err := config.ChangeFile(ctx, loadOptions, change)
	if err != nil {
		return config.ChangeReport{}, err
	}
	worker := 0
	if paths.Root != "" {
		worker = client.FindWorking(ctx, paths)
	}
	return changed.Report(change, worker, officeapp.IsSettingOfTasks), nil
}

// ChangeOfficeConfig changes one key of the office's own company.yaml. It returns EUsage if there
// is none.
func (ent *Entrance) ChangeOfficeConfig(ctx context.Context, change config.Change) (config.ChangeReport, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return config.ChangeReport{}, err
	}
	if _, err := os.Lstat(paths.Config); errors.Is(err, fs.ErrNotExist) {
		return config.ChangeReport{}, company.E(company.EUsage, "there is no "+config.ConfigName+" here").
			Fix("change your own file with --user, or create one for the project: company init")
	}
	change.File = paths.Config
	return ent.ChangeConfig(ctx, paths, change)
}

// ChangeOwnConfig changes one key of the user's own file for the checkout's repository.
func (ent *Entrance) ChangeOwnConfig(ctx context.Context, change config.Change) (config.ChangeReport, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return config.ChangeReport{}, err
	}
	checkout, err := ent.FindCheckout(paths)
	if err != nil {
		return config.ChangeReport{}, err
	}
	if change.File, err = config.RepositoryFile(ent.Console.LookupEnv, checkout); err != nil {
		return config.ChangeReport{}, err
	}
	change.Begin = beginOwnFile(checkout)
	return ent.changeConfig(ctx, paths, ent.loadOptionsFor(paths, checkout), change)
}

// ListConfig lists every key of a project's config with its value and its source. An empty project
// means the office.
func (ent *Entrance) ListConfig(ctx context.Context, project string) (view.ConfigList, error) {
	paths, err := ent.FindOffice()
	if err != nil {
		return view.ConfigList{}, err
	}
	digest, err := config.FileDigest(paths.Config) // read before the values, to detect a change in between
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
	list, values := view.ConfigList{Office: paths.Root, File: paths.Config, Digest: digest, Hash: loaded.Hash},
		loaded.Config.ShownValues()
	for _, key := range slices.Sorted(maps.Keys(values)) {
		list.Values = append(list.Values, view.ConfigValue{Key: key, Value: values[key], Origin: loaded.Origin[key]})
	}
	return list, nil
}

// trackedFile returns the company.yaml for lines of a checkout.
func trackedFile(paths office.Paths, checkout string) (string, error) {
	switch _, missing := os.Lstat(paths.Config); {
	case checkout != paths.Repo:
		return "", company.E(company.EUsage, "this checkout does not belong to the office").
			Because("the office is at " + paths.Root).
			Fix("run this in the office's folder, or leave --project out to change your own file for this repository")
	case errors.Is(missing, fs.ErrNotExist):
		return "", company.E(company.EUsage, "there is no "+config.ConfigName+" here").
			Fix("company init creates one; or leave --project out to change your own file for this repository")
	}
	return paths.Config, nil
}

// ConfigTarget selects the file of a change. The zero value means the office's own company.yaml.
type ConfigTarget struct{ User, Project, Own bool }

// ChangeTargetConfig changes one key of the selected file.
func (ent *Entrance) ChangeTargetConfig(
	ctx context.Context, configTarget ConfigTarget, change config.Change,
) (config.ChangeReport, error) {
	switch {
	case configTarget.User && configTarget.Project:
		return config.ChangeReport{}, company.E(company.EUsage, "--user and --project cannot be used together").
			Fix("leave one of them out")
	case configTarget.Own && (configTarget.User || configTarget.Project):
		return config.ChangeReport{}, company.E(company.EUsage, "--own cannot be used with --user or --project").
			Fix("leave one of them out")
	case configTarget.Own:
		return ent.ChangeOwnConfig(ctx, change)
	case !configTarget.User:
		return ent.ChangeOfficeConfig(ctx, change)
	}
	paths, err := ent.FindOffice()
	if err != nil { // the user's own file needs no project
		paths = office.Paths{}
	}
	if change.File, err = config.UserFile(ent.Console.LookupEnv); err != nil {
		return config.ChangeReport{}, err
	}
	return ent.ChangeConfig(ctx, paths, change)
}
