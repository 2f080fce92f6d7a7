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
	"company/internal/gitops/gitindex"
	"company/internal/lib/safedir"
	"company/internal/lib/safetext"
)

// Trust is the list of trusted config files, by the hash of their bytes. The president has read and accepted them, or
// company wrote them on the president's behalf. The list is kept outside of every repository, in
// $XDG_STATE_HOME/company/trust or ~/.local/state/company/trust.
type Trust struct{ path string }

// OpenTrust locates the list. Without a home folder there is no list: no file is trusted, and none can be added.
func OpenTrust(env func(string) (string, bool)) Trust {
	home, ok := StateHome(env)
	if !ok {
		return Trust{}
	}
	return Trust{filepath.Join(home, "trust")}
}

// StateHome returns the folder of all that company keeps for a user: $XDG_STATE_HOME/company or
// ~/.local/state/company. ok is false if neither variable names an absolute path.
func StateHome(env func(string) (string, bool)) (dir string, ok bool) {
	if dir, ok := env("XDG_STATE_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "company"), true
	}
	if home, ok := env("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "company"), true
	}
	return "", false
}

// Trusted reports whether a file with this hash is trusted. It fails closed: if the list cannot be read, or others can
// write to it, no file is trusted.
func (t Trust) Trusted(hash company.Hash) bool {
	if t.path == "" || hash == "" {
		return false
	}
	file, err := os.OpenFile(t.path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || !safedir.OwnedByUs(info) ||
		safedir.LinkCount(info) > 1 {
		return false
	}
	found := false
	for sc := bufio.NewScanner(file); sc.Scan(); {
		h, _, _ := strings.Cut(sc.Text(), " ")
		found = found || company.Hash(h) == hash
	}
	return found
}

// Add adds the hash of a file to the list, unless it is already there. The path is only for readers of the list.
func (t Trust) Add(hash company.Hash, path string) error {
	if t.Trusted(hash) {
		return nil
	}
	fail := func(err error) error {
		return company.E(company.EConfig, "the list of trusted files cannot be written").Wrap(err).
			Fix("set HOME or XDG_STATE_HOME to a folder of yours")
	}
	if t.path == "" {
		return fail(errors.New("no HOME and no XDG_STATE_HOME"))
	}
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return fail(err)
	}
	file, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return fail(err)
	}
	// Trusted would reject a list that is not a plain file of this user, so do not write to one.
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() || safedir.LinkCount(info) > 1 ||
		!safedir.OwnedByUs(info) {
		return fail(errors.Join(err, file.Close(),
			errors.New("it is not a plain file that you own, without hard links: "+t.path)))
	}
	// A short write in append mode does not mix with writes of other processes.
	_, err = fmt.Fprintf(file, "%s %q\n", hash, path)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fail(err)
	}
	return nil
}

// AddText trusts a company.yaml that company itself writes for the president.
func (t Trust) AddText(text []byte, path string) error { return t.Add(hashText(text), path) }

// hashText returns the hash that identifies a file in the list.
func hashText(text []byte) company.Hash {
	sum := sha256.Sum256(text)
	return company.Hash(hex.EncodeToString(sum[:]))
}

// TrustRequest is one setting of a company.yaml that needs trust.
type TrustRequest struct {
	Key    string `json:"key"`
	At     string `json:"at"`               // file:line:column
	Before string `json:"before,omitempty"` // the value without the file, as written in company.yaml; empty if not set
	After  string `json:"after,omitempty"`  // the value in the file; empty if the file removes a value
}

// TrustReview is a company.yaml as shown to the president before it is trusted.
type TrustReview struct {
	File     string
	Hash     company.Hash // of exactly the bytes that Requests were read from
	Trusted  bool
	Requests []TrustRequest // by key
}

// ReviewTrust lists the settings in the company.yaml of an office that need trust, compared with the config without
// that file. It does not trust the file. The error is ENotFound if the file does not exist.
func ReviewTrust(ctx context.Context, loadOptions LoadOptions) (TrustReview, error) {
	if loadOptions.Env == nil {
		loadOptions.Env = func(string) (string, bool) { return "", false }
	}
	l := loader{opts: loadOptions, cfg: Default(), origin: map[string]string{}}
	if p, ok := userConfig(loadOptions.Env); ok {
		if _, err := l.loadFile(p); err != nil {
			return TrustReview{}, err
		}
	}
	lower, path := l.cfg, filepath.Join(loadOptions.OfficeDir, ConfigName)
	sum, err := l.loadFile(path)
	switch {
	case err != nil:
		return TrustReview{}, err
	case sum == "":
		return TrustReview{}, company.E(company.ENotFound, "there is no "+path).
			Fix("go to the folder of a company.yaml, or name it with --office")
	case len(l.problems) > 0: // a file that cannot be parsed cannot be reviewed
		return TrustReview{}, l.problems.asError("")
	}
	return TrustReview{File: path, Hash: sum, Trusted: OpenTrust(loadOptions.Env).Trusted(sum),
		Requests: l.trustRequests(path, lower)}, nil
}

// trustRequests lists the settings that the file at path, applied last, adds to lower and that need trust.
func (l *loader) trustRequests(path string, lower Config) []TrustRequest {
	before, after := flattenConfig(lower), flattenConfig(l.cfg)
	var out []TrustRequest
	for key, at := range l.origin {
		if strings.HasPrefix(at, path+":") && needsTrust(key, before[key], after[key], lower, l.cfg) {
			out = append(out, TrustRequest{Key: key, At: at, Before: before[key], After: after[key]})
		}
	}
	for name, model := range l.cfg.Models {
		// A profile replaces the profile of the same name as a whole, so keys that it leaves out change, too (base_url, for
		// example).
		was, known := lower.Models[name]
		flagged := slices.ContainsFunc(out, func(a TrustRequest) bool { return strings.HasPrefix(a.Key, "models."+name+".") })
		if known && !flagged && !reflect.DeepEqual(model, was) {
			out = append(out, TrustRequest{Key: "models." + name, At: path})
		}
	}
	slices.SortFunc(out, func(a, b TrustRequest) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// requireTrust returns an error that names each setting of a company.yaml that needs trust, unless the president
// trusts the file. It does not matter whether git tracks the file: git does not track an unpacked archive.
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
		ps = append(ps, problem{at: a.At, key: a.Key, what: "needs your trust", fix: "read the file, then run company " +
			"trust, or set the key in your own config"})
	}
	var fault *company.Error
	err = ps.errorUpTo("", maxTrustRequests)
	if errors.As(err, &fault) {
		fault.Class = company.HumanRequired
		fault.Hint = "read " + path + ", then run company trust, or set these keys in your own config"
	}
	return err
}

// hostKeys are keys that a repository's file may never set, trusted or not. They choose the daemon that runs the
// containers, and so the machine whose disk they see, and the folder that the ledger is in.
var hostKeys = []string{"container.docker_host", "bus.path"}

// refuseHostKeys reports the keys of hostKeys that a file tracked by git sets, and profiles that it has answered by a
// script instead of a model. It runs git only if the file sets such a key.
func (l *loader) refuseHostKeys(ctx context.Context, path string) (problems, error) {
	var ps problems
	for _, key := range hostKeys {
		if at := l.origin[key]; strings.HasPrefix(at, path+":") {
			ps = append(ps, problem{at: at, key: key, what: "may not be set in a file that git tracks",
				fix: "set it in your own config: company config set --user " + key + " ..., or by " + EnvName(key)})
		}
	}
	for _, name := range l.cfg.scriptedProfiles() {
		if at := l.origin["models."+name+".adapter"]; strings.HasPrefix(at, path+":") {
			ps = append(ps, problem{at: at, key: "models." + name + ".adapter",
				what: "may not be scripted in a file that git tracks", fix: "set the profile in your own config"})
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

// untrustedKeys are keys, or prefixes of keys, that a repository may set without trust. They affect only its own work,
// and cost no more than the caps allow.
var untrustedKeys = []string{"version", "workers.command_timeout", "workers.run_timeout", "limits.", "plan.",
	"git.base", "git.integration_branch", "git.history", "gates.services", "gates.first_step_after"}

// needsTrust reports whether a change of a key needs trust. A stricter value never does. A key that is not handled
// here does.
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
	// The work of a repository must not use up the whole host (T3).
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
	case key == "retention_days": // it also removes leftovers of other projects of the office
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
		return len(lower.Git.Paths) > 0 // narrowing from the whole repository to a part is stricter
	case key == "workers.commands":
		return len(lower.Workers.Commands) > 0 // as for git.paths
	case key == "gates.protected":
		return slices.ContainsFunc(lower.Gates.Protected,
			func(g string) bool { return !slices.Contains(upper.Gates.Protected, g) })
	case key == "paths.runtime", key == "paths.backlog":
		return !isUsualPlace(key, after)
	case key == "git.use_my_logins": // trusting the file is not enough: see requireOwnLayer
		return after == "true"
	case key == "recovery":
		return after == `"auto"`
	case strings.HasPrefix(key, "agents."):
		return !strings.HasSuffix(key, ".model") && !strings.HasSuffix(key, ".max_turns") &&
			!strings.HasSuffix(key, ".escalate_to")
	}
	return !slices.ContainsFunc(untrustedKeys, func(h string) bool {
		return key == h || strings.HasSuffix(h, ".") && strings.HasPrefix(key, h)
	})
}

// diskRank makes disk limits comparable: auto means at most 10g.
func diskRank(autoSize AutoSize) AutoSize {
	if autoSize == 0 {
		return 10 << 30
	}
	return autoSize
}

// loosensCap reports whether a cap allows more than the one before it. A negative cap means no limit.
func loosensCap[T ~int64](after, before T) bool {
	return before >= 0 && (after < 0 || after > before)
}

// tokenRank makes token caps comparable. Auto ranks as the 5,000,000 tokens that it can stand for, and no limit ranks
// highest.
func tokenRank(tokenCap TokenCap) int64 {
	switch {
	case tokenCap == TokensAuto:
		return 5_000_000
	case tokenCap < 0:
		return 1 << 62
	}
	return int64(tokenCap)
}

// RenderText returns the file and its requests as text, for a person to decide on.
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
		fmt.Fprintf(table, "  %s\t%s\t(now: %s)\n", safetext.Escape(ask.Key), safetext.EscapeLine(ask.After, 300),
			safetext.EscapeLine(before, 100))
	}
	_ = table.Flush() // to memory
	return b.String()
}
