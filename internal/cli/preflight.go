package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"company/internal/adapters"
	"company/internal/company"
	"company/internal/image"
	"company/internal/office"
)

const (
	// preflightFor bounds what is looked at before anything is made.
	preflightFor = 10 * time.Second
	// localFor is how long a server on this machine has to take a connection.
	localFor = 500 * time.Millisecond
	// probeFor is how long it has to say which models it has.
	probeFor = 2 * time.Second
)

// shortages are things without which no task can be worked on here.
type shortages []*company.Error

// err is the shortages as one screen: each with its cause and the command
// that puts it right. The code is that of the first.
func (s shortages) err() error {
	switch len(s) {
	case 0:
		return nil
	case 1:
		return s[0]
	}
	lines := []string{fmt.Sprintf("%d things are missing here, so nothing was started", len(s))}
	for _, e := range s {
		line := e.Message
		if why := reason(e); why != "" {
			line += ": " + why
		}
		lines = append(lines, "  x "+line, "    fix: "+e.Hint)
	}
	out := company.E(s[0].Code, strings.Join(lines, "\n")).Fix("put these right, and see all of it with: company doctor")
	out.Class = company.HumanRequired
	return out
}

// reason is why an error happened, in one line.
func reason(e *company.Error) string {
	if e.Why != "" {
		return e.Why
	}
	if e.Err != nil {
		return e.Err.Error()
	}
	return ""
}

// preflight looks, before an office is made or anything is written, whether a
// task can be worked on here: the repository, the Docker daemon, and for every
// role a model that can be asked. All are looked at together, and all that is
// missing is told at once. When another process holds the office, it is that
// process that works: here only the repository is looked at.
func (a *app) preflight(ctx context.Context, paths office.Paths, l office.Loaded, repo, ref string) (sight, error) {
	ctx, cancel := context.WithTimeout(ctx, preflightFor)
	defer cancel()
	var wg sync.WaitGroup
	var docker, models, cache, foreign shortages
	var doubts []string
	chosen := ""
	if !office.Held(paths) {
		wg.Go(func() { chosen = a.chosenModel(ctx, paths, l) })
		wg.Go(func() { docker = a.dockerMissing(ctx) })
		wg.Go(func() { cache = shortage(cacheOf()) })
		wg.Go(func() { foreign = shortage(office.CheckFolders(ctx, paths)) })
		wg.Go(func() { models, doubts = a.modelsMissing(ctx, paths, l) })
	}
	seen, err := see(ctx, l.Config, repo, ref)
	wg.Wait()
	seen.model, seen.doubts = chosen, doubts
	missing := slices.Concat(docker, models, cache, foreign)
	if err == nil && seen.unseen != nil && ctx.Err() == nil {
		// Git cannot read what it names: no later look goes better.
		err = company.E(company.EGit, "the repository cannot be read").Because(broken(seen.unseen).Found).Fix("git fsck tells what is missing; mend it, or clone it anew")
	}
	if err == nil {
		return seen, missing.err()
	}
	var e *company.Error
	if len(missing) == 0 || !errors.As(err, &e) {
		return seen, err
	}
	return seen, append(shortages{e}, missing...).err()
}

// chosenModel is the model that Ollama has in place of the default, where
// nobody chose one; "" where somebody did, or Ollama does not say.
func (a *app) chosenModel(ctx context.Context, p office.Paths, l office.Loaded) string {
	ctx, cancel := context.WithTimeout(ctx, localFor)
	defer cancel()
	for _, profile := range profiles(l, p.Root, a.getenv) {
		if profile.Name == "default" && profile.Unchosen && isLocal(profile.BaseURL) {
			model, err := defaultModel(ctx, a.getenv)
			if err == nil {
				return model
			}
		}
	}
	return ""
}

// cacheOf says whether images have a place to be made in.
func cacheOf() error {
	_, err := image.CacheDir("")
	return err
}

// shortage is an error as a thing that is missing; none for nil.
func shortage(err error) shortages {
	var e *company.Error
	if !errors.As(err, &e) {
		return nil
	}
	return shortages{e}
}

func (a *app) dockerMissing(ctx context.Context) shortages {
	rt, err := openRuntime(ctx, a.log)
	if err == nil {
		err = rt.Close()
	}
	if err == nil || errors.Is(context.Cause(ctx), errInterrupted) {
		return nil // an interrupt is nothing that is missing
	}
	var e *company.Error
	if !errors.As(err, &e) {
		e = company.E(company.EDocker, "Docker cannot be used").Wrap(err).Fix("check it with: docker version")
	}
	return shortages{e}
}

// modelsMissing says which roles have no model that can be asked. A profile
// that cannot be used is none as long as one of its fallbacks can. A model that
// its server does not list is no shortage: it is asked all the same, and only
// told of.
func (a *app) modelsMissing(ctx context.Context, p office.Paths, l office.Loaded) (missing shortages, doubts []string) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	wrong, unlisted := map[string]*company.Error{}, map[string]*company.Error{}
	used := reachable(l.Config)
	for _, profile := range profiles(l, p.Root, a.getenv) {
		if !used[profile.Name] {
			continue
		}
		wg.Go(func() {
			e := a.modelMissing(ctx, profile, modelDeps(l.Config, a.log))
			mu.Lock()
			defer mu.Unlock()
			if e != nil && e.Code == company.ENotFound {
				unlisted[profile.Name] = e
				return
			}
			wrong[profile.Name] = e
		})
	}
	wg.Wait()
	for _, name := range slices.Sorted(maps.Keys(unlisted)) {
		e := unlisted[name]
		doubts = append(doubts, fmt.Sprintf("%s: %s; %s", name, e.Why, e.Hint))
	}
	told := map[string]bool{}
	for _, role := range roles {
		first := l.Config.Agent(role).Model
		chain := chainOf(l.Config, first)
		if slices.ContainsFunc(chain, func(name string) bool { return wrong[name] == nil }) || told[first] {
			continue
		}
		told[first] = true
		missing = append(missing, wrong[first])
	}
	return missing, doubts
}

// roles in the order in which they are shown.
var roles = []company.Role{company.Manager, company.Worker, company.Reviewer, company.Merger}

// reachable are the profiles that some role uses, fallbacks included.
func reachable(c office.Config) map[string]bool {
	out := map[string]bool{}
	for _, role := range roles {
		for _, name := range chainOf(c, c.Agent(role).Model) {
			out[name] = true
		}
	}
	return out
}

// chainOf is a profile and what it falls back to, in this order.
func chainOf(c office.Config, profile string) []string {
	var out []string
	var add func(string)
	add = func(name string) {
		if slices.Contains(out, name) {
			return
		}
		out = append(out, name)
		for _, f := range c.Models[name].Fallback {
			add(f)
		}
	}
	add(profile)
	return out
}

// modelMissing says why a profile cannot be asked, or gives nil. It looks at
// what is on this machine alone: the key, the script, a server that is local,
// and whether that one has the model: ENotFound when it does not list it.
func (a *app) modelMissing(ctx context.Context, p adapters.Profile, deps adapters.Deps) *company.Error {
	who := "the model " + p.Name + " (" + p.Adapter + " " + p.Model + ")"
	if p.KeyEnv != "" && !p.Key.Set() {
		return company.E(company.EModelAuth, who+" has no key: "+p.KeyEnv+" is NOT SET").
			Fix("export " + p.KeyEnv + "=… , or name another model: company init")
	}
	if p.Script != "" && !isFile(p.Script) {
		return company.E(company.EModel, "the model "+p.Name+" has no script: "+p.Script+" is not there").Fix("correct models." + p.Name + ".script")
	}
	if p.BaseURL == "" || !isLocal(p.BaseURL) {
		return nil
	}
	lctx, cancel := context.WithTimeout(ctx, localFor)
	defer cancel()
	if err := reach(lctx, p.BaseURL); err != nil {
		if lctx.Err() != nil { // overloaded, or the president has had enough
			return nil
		}
		e := company.E(company.EModel, who+" has no server at "+p.BaseURL).Wrap(err)
		if p.Adapter == "ollama" {
			return e.Fix("ollama serve, then ollama pull " + p.Model + "; or name another model: company init. (make demo, in company's source, shows it at work without any)")
		}
		return e.Fix("start it, or correct models." + p.Name + ".base_url: company config show")
	}
	// A server that is there and slow, or overloaded, is no shortage: a run waits
	// for it.
	pctx, cancel := context.WithTimeout(ctx, probeFor)
	defer cancel()
	_, err := registry.Probe(pctx, p, deps, false)
	var told *company.Error
	if kind := adapters.KindOf(err); kind != adapters.BadRequest && kind != adapters.Auth || !errors.As(err, &told) {
		return nil
	}
	var e *adapters.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound && !p.Unchosen {
		return company.E(company.ENotFound, who+" is not listed").Because(e.Message).Fix("it is asked all the same; where it is missing: " + told.Hint)
	}
	return company.E(told.Code, who+" cannot be asked").Because(told.Why).Fix(told.Hint)
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

// reach connects to a model's server, and asks nothing of it.
func reach(ctx context.Context, base string) error {
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

// rolesOf names the roles of each profile that one uses first.
func rolesOf(c office.Config) (profiles []string, users map[string][]string) {
	users = map[string][]string{}
	for _, role := range roles {
		name := c.Agent(role).Model
		users[name] = append(users[name], string(role))
	}
	return slices.Sorted(maps.Keys(users)), users
}
