package office

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"company/internal/company"
)

// Trust is the list of config files that the president has read and lets
// count, by the hash of their bytes. It lies outside every repository:
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
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || !ownedByUs(info) {
		return false
	}
	found := false
	for sc := bufio.NewScanner(f); sc.Scan(); {
		h, _, _ := strings.Cut(sc.Text(), " ")
		found = found || company.Hash(h) == hash
	}
	return found
}

// Trust adds the file with this hash to the list. path is for people who read
// the list.
func (t Trust) Trust(hash company.Hash, path string) error {
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
	// One short write in append mode is not torn by another process's.
	_, err = fmt.Fprintf(f, "%s %q\n", hash, path)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fail(err)
	}
	return nil
}

func ownedByUs(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// trust refuses what a tracked company.yaml asks for beyond what the layers
// below it say, unless the president trusts the file.
func (l *loader) trust(path string, sum company.Hash, lower Config) error {
	tracked, err := trackedByGit(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	if len(tracked) == 0 || OpenTrust(l.opts.Env).Trusted(sum) {
		return nil
	}
	before, after := flatten(lower), flatten(l.cfg)
	var ps problems
	for key, at := range l.origin {
		if strings.HasPrefix(at, path+":") && needsTrust(key, before[key], after[key], lower, l.cfg) {
			ps = append(ps, problem{at: at, key: key, what: "needs your trust, since git tracks this file",
				fix: "read the file, then run company trust, or set the key in your own config"})
		}
	}
	for name, m := range l.cfg.Models {
		// A profile replaces the one below as a whole: what it leaves out is a
		// change, too (a base_url, say).
		was, known := lower.Models[name]
		flagged := slices.ContainsFunc(ps, func(p problem) bool { return strings.HasPrefix(p.key, "models."+name+".") })
		if known && !flagged && !reflect.DeepEqual(m, was) {
			ps = append(ps, problem{at: path, key: "models." + name, what: "needs your trust, since git tracks this file",
				fix: "read the file, then run company trust, or set the key in your own config"})
		}
	}
	slices.SortFunc(ps, func(a, b problem) int { return strings.Compare(a.key, b.key) })
	if err, ok := ps.err("").(*company.Error); ok {
		err.Class = company.HumanRequired
		err.Hint = "read " + path + ", then run company trust, or set these keys in your own config"
		return err
	}
	return nil
}

// needsTrust reports whether a repository may not set a key by itself. What
// tightens is always allowed (DESIGN §11).
func needsTrust(key, before, after string, lower, upper Config) bool {
	if before == after {
		return false
	}
	for _, p := range []string{"models.", "forge.", "bus.", "git.credential", "git.remote", "git.author",
		"container.egress", "container.setup", "container.image", "container.runtime", "container.deps"} {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	switch {
	case strings.HasSuffix(key, "_env"), strings.HasSuffix(key, "url"), strings.HasSuffix(key, ".persona"):
		return true
	case key == "budget.usd":
		return upper.Budget.USD < 0 || lower.Budget.USD >= 0 && upper.Budget.USD > lower.Budget.USD
	case key == "budget.tokens":
		return tokenRank(upper.Budget.Tokens) > tokenRank(lower.Budget.Tokens)
	case strings.HasPrefix(key, "approvals."):
		return after == `"auto"`
	case key == "gates.none":
		return after == `"allow"` || before == `"fail"`
	case key == "gates.lint", key == "gates.test":
		return after == `"none"`
	case key == "gates.protect_tests", key == "container.strict":
		return after == "false"
	case key == "gates.red_green":
		return after == `"off"` || before == `"require"`
	case key == "gates.protected":
		for _, g := range lower.Gates.Protected {
			if !slices.Contains(upper.Gates.Protected, g) {
				return true
			}
		}
	case key == "recovery":
		return after == `"auto"`
	}
	return false
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
