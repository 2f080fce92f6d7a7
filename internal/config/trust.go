package config

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"company/internal/company"
	"company/internal/folder"
	"company/internal/gitindex"
	"company/internal/safetext"
)

// Trust is the list of config files that the president has read and lets count, or
// that company wrote for them, by the hash of their bytes. It lies outside every
// repository:
// $XDG_STATE_HOME/company/trust, or ~/.local/state/company/trust.
type Trust struct{ path string }

// OpenTrust finds the list. Without a home there is none: then nothing is
// trusted, and nothing can be.
func OpenTrust(env func(string) (string, bool)) Trust {
	if dir, ok := env("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return Trust{filepath.Join(dir, "company", "trust")}
	}
	if home, ok := env("HOME"); ok && filepath.IsAbs(home) {
		return Trust{filepath.Join(home, ".local", "state", "company", "trust")}
	}
	return Trust{}
}

// Trusted reports whether a file with this hash counts. It fails closed: a
// list that cannot be read, or that others can write, trusts nothing.
func (t Trust) Trusted(hash company.Hash) bool {
	if t.path == "" || hash == "" {
		return false
	}
	f, err := os.OpenFile(t.path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || !folder.OwnedByUs(info) || folder.LinkCount(info) > 1 {
		return false
	}
	found := false
	for sc := bufio.NewScanner(f); sc.Scan(); {
		h, _, _ := strings.Cut(sc.Text(), " ")
		found = found || company.Hash(h) == hash
	}
	return found
}

// Add adds the file with this hash to the list, where it is not there yet. path is for
// readers of the list.
func (t Trust) Add(hash company.Hash, path string) error {
	if t.Trusted(hash) {
		return nil
	}
	fail := func(err error) error {
		return company.E(company.EConfig, "the list of trusted files cannot be written").Wrap(err).Fix("set HOME or XDG_STATE_HOME to a folder of yours")
	}
	if t.path == "" {
		return fail(errors.New("no HOME and no XDG_STATE_HOME"))
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fail(err)
	}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fail(err)
	}
	// What would not be believed afterwards is not written to either.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || folder.LinkCount(info) > 1 || !folder.OwnedByUs(info) {
		return fail(errors.Join(err, f.Close(), errors.New("it is not a plain file of yours with one name: "+t.path)))
	}
	// One short write in append mode is not torn by another process's.
	_, err = fmt.Fprintf(f, "%s %q\n", hash, path)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fail(err)
	}
	return nil
}

// AddText lets a company.yaml count that company itself writes for the president.
func (t Trust) AddText(text []byte, path string) error { return t.Add(hashText(text), path) }

// hashText is the hash by which the list knows a file.
func hashText(text []byte) company.Hash {
	sum := sha256.Sum256(text)
	return company.Hash(hex.EncodeToString(sum[:]))
}

// TrustRequest is one setting of a company.yaml that needs trust.
type TrustRequest struct {
	Key    string `json:"key"`
	At     string `json:"at"`               // file:line:column
	Before string `json:"before,omitempty"` // what holds without the file, as written in company.yaml; empty: nothing
	After  string `json:"after,omitempty"`  // what the file says; empty: it takes something away
}

// TrustReview is a company.yaml as the president has to see it before trusting it.
type TrustReview struct {
	File     string
	Hash     company.Hash // of exactly the bytes that Requests were read from
	Trusted  bool
	Requests []TrustRequest // by key
}

// ReviewTrust tells what the company.yaml of an office asks for beyond what
// holds without it. It lets nothing count. ENotFound: there is no such file.
func ReviewTrust(ctx context.Context, o LoadOptions) (TrustReview, error) {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	l := loader{opts: o, cfg: Default(), origin: map[string]string{}}
	if p, ok := userConfig(o.Env); ok {
		if _, err := l.loadFile(p); err != nil {
			return TrustReview{}, err
		}
	}
	lower, path := l.cfg, filepath.Join(o.OfficeDir, ConfigName)
	sum, err := l.loadFile(path)
	switch {
	case err != nil:
		return TrustReview{}, err
	case sum == "":
		return TrustReview{}, company.E(company.ENotFound, "there is no "+path).Fix("go to the folder of a company.yaml, or name it with --office")
	case len(l.problems) > 0: // what cannot be read cannot be judged
		return TrustReview{}, l.problems.asError("")
	}
	return TrustReview{File: path, Hash: sum, Trusted: OpenTrust(o.Env).Trusted(sum), Requests: l.trustRequests(path, lower)}, nil
}

// trustRequests are what the file at path, applied last, asks for beyond lower.
func (l *loader) trustRequests(path string, lower Config) []TrustRequest {
	before, after := flattenConfig(lower), flattenConfig(l.cfg)
	var out []TrustRequest
	for key, at := range l.origin {
		if strings.HasPrefix(at, path+":") && needsTrust(key, before[key], after[key], lower, l.cfg) {
			out = append(out, TrustRequest{Key: key, At: at, Before: before[key], After: after[key]})
		}
	}
	for name, m := range l.cfg.Models {
		// A profile replaces the one below as a whole: what it leaves out is a
		// change, too (a base_url, say).
		was, known := lower.Models[name]
		flagged := slices.ContainsFunc(out, func(a TrustRequest) bool { return strings.HasPrefix(a.Key, "models."+name+".") })
		if known && !flagged && !reflect.DeepEqual(m, was) {
			out = append(out, TrustRequest{Key: "models." + name, At: path})
		}
	}
	slices.SortFunc(out, func(a, b TrustRequest) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// requireTrust refuses what a company.yaml asks for beyond what the layers below it
// say, unless the president trusts the file. Each key is named. Whether git tracks the
// file is no question here: an archive that was unpacked is tracked by nothing.
func (l *loader) requireTrust(ctx context.Context, path string, sum company.Hash, lower Config) error {
	ps, err := l.refuseHostKeys(ctx, path)
	if err == nil {
		err = ps.asError("")
	}
	if err != nil {
		return err
	}
	requests := l.trustRequests(path, lower)
	if trial := l.opts.trial; trial != nil {
		if path == trial.path {
			trial.requests = requests
		}
		return nil
	}
	if len(requests) == 0 || OpenTrust(l.opts.Env).Trusted(sum) {
		return nil
	}
	for _, a := range requests {
		ps = append(ps, problem{at: a.At, key: a.Key, what: "needs your trust", fix: "read the file, then run company trust, or set the key in your own config"})
	}
	var e *company.Error
	err = ps.errorUpTo("", maxTrustRequests)
	if errors.As(err, &e) {
		e.Class = company.HumanRequired
		e.Hint = "read " + path + ", then run company trust, or set these keys in your own config"
	}
	return err
}

// hostKeys are the keys that a file of a repository sets never, trusted or not: they say
// which daemon has the containers, and so which machine's disk they see.
var hostKeys = []string{"container.docker_host"}

// refuseHostKeys refuses the keys of this host in a file that git tracks. Git is asked
// only where the file sets one.
func (l *loader) refuseHostKeys(ctx context.Context, path string) (problems, error) {
	var ps problems
	for _, key := range hostKeys {
		if at := l.origin[key]; strings.HasPrefix(at, path+":") {
			ps = append(ps, problem{at: at, key: key, what: "may not be set in a file that git tracks",
				fix: "set it in your own config: company config set --user " + key + " ..., or set DOCKER_HOST"})
		}
	}
	if len(ps) == 0 {
		return nil, nil
	}
	tracked, err := gitindex.TracksFile(ctx, filepath.Dir(path), filepath.Base(path))
	if err != nil || !tracked {
		return nil, err
	}
	return ps, nil
}

// untrustedKeys are the keys, or starts of keys, that a repository may set by
// itself: they are about its own work, and cost nothing beyond the caps.
var untrustedKeys = []string{"version", "workers.command_timeout", "workers.run_timeout", "limits.", "plan.",
	"git.base", "git.integration_branch", "git.history", "gates.services", "gates.first_step_after"}

// needsTrust reports whether a repository may not set a key by itself. What
// tightens is always allowed. A key that is not judged here needs trust.
func needsTrust(key, before, after string, lower, upper Config) bool {
	if before == after {
		return false
	}
	switch {
	case key == "budget.usd":
		return loosensCap(upper.Budget.USD, lower.Budget.USD)
	case key == "budget.day_usd":
		return loosensCap(upper.Budget.DayUSD, lower.Budget.DayUSD)
	case key == "budget.day_tokens":
		return loosensCap(upper.Budget.DayTokens, lower.Budget.DayTokens)
	case key == "budget.office_usd":
		return loosensCap(upper.Budget.OfficeUSD, lower.Budget.OfficeUSD)
	case key == "budget.office_tokens":
		return loosensCap(upper.Budget.OfficeTokens, lower.Budget.OfficeTokens)
	case key == "budget.tokens":
		return tokenRank(upper.Budget.Tokens) > tokenRank(lower.Budget.Tokens)
	// A repository's own work must not take the whole host (T3).
	case key == "workers.memory":
		return upper.Workers.Memory > lower.Workers.Memory
	case key == "workers.cpus":
		return upper.Workers.CPUs > lower.Workers.CPUs
	case key == "workers.pids":
		return upper.Workers.PIDs > lower.Workers.PIDs
	case key == "workers.disk":
		return diskRank(upper.Workers.Disk) > diskRank(lower.Workers.Disk)
	case key == "workers.max":
		return upper.Workers.Max > lower.Workers.Max
	case key == "workers.warm":
		return upper.Workers.Warm > lower.Workers.Warm
	case key == "retention_days": // it removes what other projects of the office left, too
		return upper.RetentionDays < lower.RetentionDays
	case strings.HasPrefix(key, "approvals."):
		return after == `"auto"`
	case key == "gates.none":
		return after == `"allow"` || before == `"fail"`
	case key == "gates.lint", key == "gates.types", key == "gates.build", key == "gates.test":
		return after == `"none"`
	case key == "gates.protect_tests", key == "gates.canary":
		return after == "false"
	case key == "gates.red_green":
		return after == `"off"` || before == `"require"`
	case key == "git.paths":
		return len(lower.Git.Paths) > 0 // from all of the repository to a part is tighter
	case key == "gates.protected":
		return slices.ContainsFunc(lower.Gates.Protected, func(g string) bool { return !slices.Contains(upper.Gates.Protected, g) })
	case key == "paths.runtime", key == "paths.backlog":
		return !isUsualPlace(key, after)
	case key == "git.use_my_logins": // and trust does not help: see requireOwnLayer
		return after == "true"
	case key == "recovery":
		return after == `"auto"`
	case strings.HasPrefix(key, "agents."):
		return strings.HasSuffix(key, ".persona")
	}
	return !slices.ContainsFunc(untrustedKeys, func(h string) bool {
		return key == h || strings.HasSuffix(h, ".") && strings.HasPrefix(key, h)
	})
}

// diskRank orders bounds of a worker's disk: auto is 10g at most.
func diskRank(s AutoSize) AutoSize {
	if s == 0 {
		return 10 << 30
	}
	return s
}

// loosensCap says whether a cap allows more than the one before it. A negative one caps
// nothing.
func loosensCap[T ~int64](after, before T) bool {
	return before >= 0 && (after < 0 || after > before)
}

// tokenRank orders caps of tokens. Auto may mean no cap, so only none ranks
// above it; a number ranks below, whatever it is, unless it is above the 5 M
// that auto can mean.
func tokenRank(t TokenCap) int64 {
	switch {
	case t == TokensAuto:
		return 5_000_000
	case t < 0:
		return 1 << 62
	}
	return int64(t)
}

// RenderText is the file and its wishes, for the person to decide on.
func (r TrustReview) RenderText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%.12s)\n", safetext.Escape(r.File), r.Hash)
	if len(r.Requests) == 0 {
		fmt.Fprintln(&b, "it asks for nothing that needs trust")
		return b.String()
	}
	fmt.Fprintln(&b, "asks for:")
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, ask := range r.Requests {
		before := ask.Before
		if before == "" {
			before = "not set"
		}
		fmt.Fprintf(table, "  %s\t%s\t(now: %s)\n", safetext.Escape(ask.Key), safetext.EscapeLine(ask.After, 300), safetext.EscapeLine(before, 100))
	}
	_ = table.Flush() // to memory
	return b.String()
}
