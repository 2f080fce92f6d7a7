package diagnose

import (
	"context"
	"errors"
	"fmt"
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
	officeapp "company/internal/app"
	"company/internal/company"
	"company/internal/config"
	"company/internal/image"
	"company/internal/office"
)

const (
	// PreflightTimeout bounds the checks before anything is made.
	PreflightTimeout = 10 * time.Second
	// LocalDialTimeout is how long a server on this machine has to take a connection.
	LocalDialTimeout = 500 * time.Millisecond
	// probeTimeout is how long it has to say which models it has.
	probeTimeout = 2 * time.Second
)

// missingRequirements are the lacks that keep every task from being worked on
// here.
type missingRequirements []*company.Error

// asError is the shortages as one screen: each with its cause and the command
// that puts it right. The code is that of the first.
func (s missingRequirements) asError() error {
	switch len(s) {
	case 0:
		return nil
	case 1:
		return s[0]
	}
	lines := []string{fmt.Sprintf("%d things are missing here, so nothing was started", len(s))}
	for _, e := range s {
		line := e.Message
		if why := causeText(e); why != "" {
			line += ": " + why
		}
		lines = append(lines, "  x "+line, "    fix: "+e.Hint)
	}
	return company.E(s[0].Code, strings.Join(lines, "\n")).Fix("put these right, and see all of it with: company doctor").NeedsPerson()
}

// causeText is why an error happened, in one line.
func causeText(e *company.Error) string {
	if e.Why != "" {
		return e.Why
	}
	if e.Err != nil {
		return e.Err.Error()
	}
	return ""
}

// Preflight looks, before an office is made or anything is written, whether
// a task can be worked on here: the repository, the Docker daemon, and for
// every role a model that can be asked. All are checked together, and all lacks
// are reported at once. When another process holds the office, it is that
// process that works: here only the repository is looked at. The remote is asked
// for its task numbers, and not waited for: see UsedNumbers.
func (d *Checker) Preflight(ctx context.Context, paths office.Paths, l config.Loaded, repo, ref string) (_ RepoCheck, err error) {
	numbers := d.askUsedNumbers(ctx, paths, l.Config, repo)
	defer func() {
		if err != nil {
			numbers.stop()
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, PreflightTimeout)
	defer cancel()
	var wg sync.WaitGroup
	var docker, models, cache, foreign missingRequirements
	var doubts []string
	chosen := ""
	if !office.IsHeld(paths) {
		wg.Go(func() { chosen = d.ChosenModel(ctx, paths, l) })
		wg.Go(func() { docker = missingDocker(ctx, d.daemonOf(l)) })
		wg.Go(func() { cache = toMissing(checkCacheDir()) })
		wg.Go(func() { foreign = toMissing(office.CheckFolders(ctx, paths)) })
		wg.Go(func() { models, doubts = d.missingModels(ctx, paths, l) })
	}
	seen, err := CheckRepo(ctx, l.Config, repo, ref)
	wg.Wait()
	seen.Model, seen.ModelWarnings, seen.Numbers = chosen, doubts, numbers
	missing := slices.Concat(docker, models, cache, foreign)
	if err == nil && seen.GatesError != nil && ctx.Err() == nil {
		// Git cannot read what it names: no later look goes better.
		err = company.E(company.EGit, "the repository cannot be read").Because(ErrorResult(seen.GatesError).Found).Fix("git fsck lists the missing objects; mend it, or clone it anew")
	}
	if err == nil {
		return seen, missing.asError()
	}
	var e *company.Error
	if len(missing) == 0 || !errors.As(err, &e) {
		return seen, err
	}
	return seen, append(missingRequirements{e}, missing...).asError()
}

// ChosenModel is the model that Ollama has in place of the default, where the
// config names none; "" where it names one, or Ollama does not answer.
func (d *Checker) ChosenModel(ctx context.Context, p office.Paths, l config.Loaded) string {
	ctx, cancel := context.WithTimeout(ctx, LocalDialTimeout)
	defer cancel()
	for _, profile := range officeapp.ModelProfiles(l, p.Root, d.envValue) {
		if profile.Name == "default" && profile.Unchosen && isLocal(profile.BaseURL) {
			model, err := officeapp.DefaultModel(ctx, d.envValue)
			if err == nil {
				return model
			}
		}
	}
	return ""
}

// checkCacheDir says whether images have a place to be made in.
func checkCacheDir() error {
	_, err := image.CacheDir("")
	return err
}

// toMissing wraps an error as a missing requirement; none for nil.
func toMissing(err error) missingRequirements {
	var e *company.Error
	if !errors.As(err, &e) {
		return nil
	}
	return missingRequirements{e}
}

func missingDocker(ctx context.Context, daemon officeapp.Daemon) missingRequirements {
	rt, err := daemon.OpenRuntime(ctx)
	if err == nil {
		err = rt.Close()
	}
	if err == nil || ctx.Err() != nil && !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return nil // an interrupt is nothing that is missing
	}
	var e *company.Error
	if !errors.As(err, &e) {
		e = company.E(company.EDocker, "Docker cannot be used").Wrap(err).Fix("check it with: docker version")
	}
	return missingRequirements{e}
}

// missingModels says which roles have no model that can be asked. A profile
// that cannot be used is none as long as one of its fallbacks can. Doubts are about
// models that are asked all the same.
func (d *Checker) missingModels(ctx context.Context, p office.Paths, l config.Loaded) (missing missingRequirements, doubts []string) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	wrong := map[string]*company.Error{}
	used := usedProfiles(l.Config)
	for _, profile := range officeapp.ModelProfiles(l, p.Root, d.envValue) {
		if !used[profile.Name] {
			continue
		}
		wg.Go(func() {
			e, doubt := d.missingModel(ctx, profile, officeapp.ModelDeps(l.Config, d.Logger))
			mu.Lock()
			defer mu.Unlock()
			wrong[profile.Name] = e
			if doubt != "" {
				doubts = append(doubts, doubt)
			}
		})
	}
	wg.Wait()
	slices.Sort(doubts)
	told := map[string]bool{}
	for _, role := range officeapp.AllRoles {
		first := l.Config.Agent(role).Model
		chain := officeapp.FallbackChain(l.Config, first)
		if slices.ContainsFunc(chain, func(name string) bool { return wrong[name] == nil }) || told[first] {
			continue
		}
		told[first] = true
		missing = append(missing, wrong[first])
	}
	return missing, doubts
}

// usedProfiles are the profiles that some role uses, fallbacks included.
func usedProfiles(c config.Config) map[string]bool {
	out := map[string]bool{}
	for _, first := range officeapp.AgentModels(c) {
		for _, name := range officeapp.FallbackChain(c, first) {
			out[name] = true
		}
	}
	return out
}

// anotherModel is how one names a model, to the letter.
const anotherModel = "put another model into your own config.yaml (company config set --user), or after company init into company.yaml: models: {default: {adapter: anthropic, model: claude-sonnet-4-6, api_key_env: ANTHROPIC_API_KEY}}"

// missingModel says why a profile cannot be asked, or what makes that doubtful: the key,
// the script, the server, and whether that one has the model.
func (d *Checker) missingModel(ctx context.Context, p adapters.Profile, deps adapters.Deps) (missing *company.Error, doubt string) {
	who := "the model " + p.Name + " (" + p.Adapter + " " + p.Model + ")"
	if p.KeyEnv != "" && !p.Key.Set() {
		return company.E(company.EModelAuth, who+" has no key: "+p.KeyEnv+" is NOT SET").
			Fix("export " + p.KeyEnv + "=… , or " + anotherModel), ""
	}
	if p.Script != "" {
		if isRegularFile(p.Script) {
			return nil, ""
		}
		return company.E(company.EModel, "the model "+p.Name+" has no script: "+p.Script+" is not there").Fix("correct models." + p.Name + ".script"), ""
	}
	if p.BaseURL != "" && isLocal(p.BaseURL) {
		lctx, cancel := context.WithTimeout(ctx, LocalDialTimeout)
		defer cancel()
		if err := DialServer(lctx, p.BaseURL); err != nil {
			if lctx.Err() != nil { // overloaded, or the president has had enough
				return nil, ""
			}
			e := company.E(company.EModel, who+" has no server at "+p.BaseURL).Wrap(err)
			if p.Adapter == "ollama" {
				return e.Fix("ollama serve, then ollama pull " + p.Model + "; or " + anotherModel + " (make demo, in company's source, shows it at work without any)"), ""
			}
			return e.Fix("start it, or correct models." + p.Name + ".base_url: company config show"), ""
		}
	}
	pctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	found, err := officeapp.ModelDrivers.Probe(pctx, p, deps, adapters.ReachServers)
	return judgeProbe(who, found, err)
}

// judgeProbe judges the answer of a model's server. One that is slow or overloaded is no
// shortage, since a run waits for it.
func judgeProbe(who string, found adapters.Probed, err error) (missing *company.Error, doubt string) {
	var told *company.Error
	if err == nil || !errors.As(err, &told) {
		if found.Doubt == "" {
			return nil, ""
		}
		return nil, fmt.Sprintf("%s, %s: %s; it is asked all the same: %s", who, found.Said, found.Doubt, found.Fix)
	}
	switch adapters.KindOf(err) {
	case adapters.BadRequest, adapters.MalformedReply, adapters.Auth, adapters.Quota, adapters.UnknownHost:
		return company.E(told.Code, who+" cannot be asked").Because(told.Why).Fix(told.Hint), ""
	case adapters.Unreachable:
		return nil, fmt.Sprintf("%s, %s: %s; it is tried again: %s", who, found.Said, told.Why, told.Hint)
	}
	return nil, ""
}

// isLocal says whether an address is on this machine by its very text: no name
// is looked up.
func isLocal(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}

// DialServer connects to a model's server, and asks nothing of it.
func DialServer(ctx context.Context, base string) error {
	u, err := url.Parse(base)
	if err != nil {
		return err
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// RolesByProfile names the roles of each profile that one uses first.
func RolesByProfile(c config.Config) (profiles []string, users map[string][]string) {
	users = map[string][]string{}
	for _, role := range officeapp.AllRoles {
		name := c.Agent(role).Model
		users[name] = append(users[name], string(role))
	}
	return slices.Sorted(maps.Keys(users)), users
}

func isRegularFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
