package diagnose

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/api/client"
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/container/image"
	"company/internal/gitops/gitlogin"
	"company/internal/office"
	"company/internal/office/config"
)

const (
	// PreflightTimeout limits the checks before any work starts.
	PreflightTimeout = 10 * time.Second
	// LocalDialTimeout limits the connection to a server on this machine.
	LocalDialTimeout = 500 * time.Millisecond
)

// missingRequirements holds the errors that prevent all work on this machine.
type missingRequirements []*company.Error

// asError joins the requirements into one error, each with its cause and its fix. The code is that
// of the first. It returns nil if there are no entries.
func (s missingRequirements) asError() error {
	switch len(s) {
	case 0:
		return nil
	case 1:
		return s[0]
	}
	lines := []string{"nothing was started: " + company.Count(len(s), "problem") + " must be fixed first"}
	for _, fault := range s {
		line := fault.Message
		if reason := causeText(fault); reason != "" {
			line += ": " + reason
		}
		lines = append(lines, "  x "+line, "    fix: "+fault.Hint)
	}
	return company.E(s[0].Code, strings.Join(lines, "\n")).
		Fix("fix these; company doctor shows all checks").NeedsPerson()
}

// causeText returns the cause of an error in one line.
func causeText(fault *company.Error) string {
	if fault.Why != "" {
		return fault.Why
	}
	if fault.Err != nil {
		return fault.Err.Error()
	}
	return ""
}

// Preflight checks that a task can be worked on here before it writes any files. It checks the
// repository, the Docker daemon, and a usable model for every role. All run concurrently, and all
// missing requirements are reported at once. If work has started in a process, that process does
// this work, too, and Preflight checks only the repository. It starts the query for the remote's
// task numbers without waiting for it: see UsedNumbers.
func (d *Checker) Preflight(
	ctx context.Context, paths office.Paths, loaded config.Loaded, repo, ref string,
) (_ RepoCheck, err error) {
	numbers := d.askUsedNumbers(ctx, paths, loaded.Config, repo)
	defer func() {
		if err != nil {
			numbers.stop()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, PreflightTimeout)
	defer cancel()
	var wg sync.WaitGroup
	var docker, models, cache missingRequirements
	chosen := ""
	if client.FindWorking(ctx, paths) == 0 {
		wg.Go(func() { chosen = d.ChosenModel(ctx, paths, loaded) })
		wg.Go(func() { docker = missingDocker(ctx, d.daemonOf(loaded)) })
		wg.Go(func() { cache = toMissing(checkCacheDir()) })
		wg.Go(func() { models = d.missingModels(ctx, paths, loaded) })
	}
	seen, err := checkRepoAs(ctx, gitlogin.New(d.Env), loaded.Config, repo, ref)
	wg.Wait()
	seen.Model, seen.Numbers = chosen, numbers
	missing := slices.Concat(docker, models, cache)
	if err == nil && seen.GatesError != nil && ctx.Err() == nil {
		// Git cannot read the repository's files, and a retry would fail, too.
		err = company.E(company.EGit, "the repository cannot be read").Because(ErrorResult(seen.GatesError).Found).
			Fix("git fsck lists the missing objects; repair the repository or clone it again")
	}
	if err == nil {
		return seen, missing.asError()
	}
	var fault *company.Error
	if len(missing) == 0 || !errors.As(err, &fault) {
		return seen, err
	}
	return seen, append(missingRequirements{fault}, missing...).asError()
}

// ChosenModel returns Ollama's replacement for the default model if the config names no model. It
// returns "" if the config names one or Ollama does not respond.
func (d *Checker) ChosenModel(ctx context.Context, paths office.Paths, loaded config.Loaded) string {
	ctx, cancel := context.WithTimeout(ctx, LocalDialTimeout)
	defer cancel()
	for _, profile := range officeapp.ModelProfiles(loaded, paths.Root, d.envValue) {
		if profile.Name == "default" && profile.Unchosen && isLocal(profile.BaseURL) {
			model, err := officeapp.DefaultModel(ctx, d.envValue)
			if err == nil {
				return model
			}
		}
	}
	return ""
}

// checkCacheDir checks that the cache directory for images is usable.
func checkCacheDir() error {
	_, err := image.CacheDir("")
	return err
}

// toMissing wraps an error as a missing requirement, and returns nil for other errors and for nil.
func toMissing(err error) missingRequirements {
	var fault *company.Error
	if !errors.As(err, &fault) {
		return nil
	}
	return missingRequirements{fault}
}

func missingDocker(ctx context.Context, daemon officeapp.Daemon) missingRequirements {
	rt, err := daemon.OpenRuntime(ctx)
	if err == nil {
		err = rt.Close()
	}
	if err == nil || ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return nil // an interrupt is no missing requirement
	}
	var fault *company.Error
	if !errors.As(err, &fault) {
		fault = company.E(company.EDocker, "Docker cannot be used").Wrap(err).Fix("check it with: docker version")
	}
	return missingRequirements{fault}
}

// missingModels returns the roles without a usable model. An unusable profile is fine if one of
// its fallbacks is usable.
func (d *Checker) missingModels(
	ctx context.Context, paths office.Paths, loaded config.Loaded,
) (missing missingRequirements) {
	wrong := map[string]*company.Error{}
	used := usedProfiles(loaded.Config)
	for _, profile := range officeapp.ModelProfiles(loaded, paths.Root, d.envValue) {
		if used[profile.Name] {
			wrong[profile.Name] = missingModel(ctx, profile)
		}
	}
	told := map[string]bool{}
	for _, role := range officeapp.AllRoles {
		first := loaded.Config.Agent(role).Model
		chain := officeapp.FallbackChain(loaded.Config, first)
		if loaded.Config.Models[first].Via != "" {
			chain = chain[1:] // the program needs the model that it asks
		}
		if slices.ContainsFunc(chain, func(name string) bool { return wrong[name] == nil }) || told[first] {
			continue
		}
		told[first] = true
		missing = append(missing, wrong[chain[0]])
	}
	return missing
}

// usedProfiles returns the profiles that roles use, with their fallbacks.
func usedProfiles(cfg config.Config) map[string]bool {
	out := map[string]bool{}
	for _, first := range officeapp.AgentModels(cfg) {
		for _, name := range officeapp.FallbackChain(cfg, first) {
			out[name] = true
		}
	}
	return out
}

// anotherModel is the hint that shows how to configure a model.
const anotherModel = "choose another model: " + adapters.ChooseModel

// missingModel returns what keeps a profile from being asked: no key, no script, or no server at an
// address of this machine. The server is not asked for its models (ADP-5): the first request shows
// whether it has this one.
func missingModel(ctx context.Context, profile adapters.Profile) *company.Error {
	who := "the model " + profile.Name + " (" + profile.Adapter + " " + profile.Model + ")"
	switch {
	case profile.Adapter == company.AdapterProgram:
		return nil // the image has it, or the run says that it lacks
	case profile.KeyEnv != "" && !profile.Key.Set():
		return company.E(company.EModelAuth, who+" has no key: "+profile.KeyEnv+" is NOT SET").
			Fix("export " + profile.KeyEnv + "=… , or " + anotherModel)
	case profile.Script != "" && !isRegularFile(profile.Script):
		return company.E(company.EModel, "the model "+profile.Name+" has no script: "+profile.Script+" does not exist").
			Fix("correct models." + profile.Name + ".script")
	case profile.Script != "" || profile.BaseURL == "" || !isLocal(profile.BaseURL):
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, LocalDialTimeout)
	defer cancel()
	err := DialServer(ctx, profile.BaseURL)
	if err == nil || ctx.Err() != nil { // overloaded, or the president has interrupted
		return nil
	}
	fault := company.E(company.EModel, who+" has no server at "+profile.BaseURL).Wrap(err)
	if profile.Adapter == "ollama" {
		return fault.Fix("ollama serve, then ollama pull " + profile.Model + "; or " + anotherModel +
			" (make demo, in company's source, runs without a model)")
	}
	place := cmp.Or(profile.SetIn, "company config show")
	return fault.Fix("start it, or correct the address of models." + profile.Name + ": " + place)
}

// isLocal reports whether the text of an address names this machine. It makes no DNS lookup.
func isLocal(base string) bool {
	address, err := url.Parse(base)
	if err != nil {
		return false
	}
	if strings.EqualFold(address.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(address.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}

// DialServer connects to a model's server without sending a request.
func DialServer(ctx context.Context, base string) error {
	address, err := url.Parse(base)
	if err != nil {
		return err
	}
	port := address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[address.Scheme]
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(address.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// RolesByProfile lists the profiles that roles use first, and the roles of each.
func RolesByProfile(cfg config.Config) (profiles []string, users map[string][]string) {
	users = map[string][]string{}
	for _, role := range officeapp.AllRoles {
		name := cfg.Agent(role).Model
		users[name] = append(users[name], string(role))
	}
	return slices.Sorted(maps.Keys(users)), users
}

func isRegularFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
