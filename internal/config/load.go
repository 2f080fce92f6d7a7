package config

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"company/internal/company"
	"company/internal/folder"
)

// ConfigName is the file that makes a folder an office.
const ConfigName = "company.yaml"

// OriginDefault is the origin of a value that nothing sets.
const OriginDefault = "default"

// LoadOptions says where to look.
type LoadOptions struct {
	// OfficeDir holds company.yaml; a file that is not there sets nothing.
	OfficeDir string
	// Project is the checkout that a task is about, when that is not the
	// office's own. Of its company.yaml the keys under gates and container
	// count, above the office's: they say how that repository is built and
	// judged. The rest of the file counts only for an office in that checkout.
	Project string
	// Checkout is the checkout that the office is in, for the user's own file for that
	// repository (RepositoryFile); empty: none is read. With Project that of Project is.
	Checkout string
	// Env looks a variable up, as os.LookupEnv does.
	Env func(string) (string, bool)
	// Environ is the whole environment, as os.Environ gives it; nil: not looked
	// at. Variables that are meant for the company and set nothing are found in
	// it.
	Environ []string
	// Flags are keys set on the command line: workers.max → "5".
	Flags map[string]string
	// Record are values that the record of a task brings (RecordedValues), above all files.
	Record map[string]string

	// trial is a file that is about to be written; nil: all are read.
	trial *trialFile
}

// trialFile is a config file as it would be, to be read in its place. Trust is not
// asked for: what needs it is listed.
type trialFile struct {
	path     string
	data     []byte
	requests []TrustRequest
}

// Loaded is a config with its history.
type Loaded struct {
	Config Config
	// Origin tells for each key where its value comes from: "default",
	// "/path/company.yaml:3:5", "COMPANY_WORKERS_MAX", "flag workers.max".
	Origin map[string]string
	// Hash names the whole of the config's values.
	Hash company.Hash
	// Unused are variables called COMPANY_* that set nothing and resemble no
	// key: other programs may have their own.
	Unused []string
}

// Load reads the config: flag > COMPANY_* > the user's own file for the repository >
// company.yaml of the office > $XDG_CONFIG_HOME/company/config.yaml > default (CFG-3); of a
// project that is not the office's own, its gates and container come above the office's. The
// environment name of a key is COMPANY_ and the key in capitals, with _ for each dot and dash.
// No .env file is read.
//
// All that is wrong is reported in one E_CONFIG error. What a company.yaml
// asks for and that needs trust is refused by name.
func Load(ctx context.Context, o LoadOptions) (Loaded, error) {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	l := loader{opts: o, cfg: Default(), origin: map[string]string{}}
	if p, ok := userConfig(o.Env); ok {
		if _, err := l.loadFile(p); err != nil {
			return Loaded{}, err
		}
	}
	if o.OfficeDir != "" {
		lower := l.cfg
		path := filepath.Join(o.OfficeDir, ConfigName)
		sum, err := l.loadFile(path)
		if err != nil {
			return Loaded{}, err
		}
		l.requireOwnLayer(path)
		if sum != "" && len(l.problems) == 0 {
			if err := l.requireTrust(ctx, path, sum, lower); err != nil {
				return Loaded{}, err
			}
		}
	}
	if o.Project != "" && o.Project != o.OfficeDir {
		lower := l.cfg
		path := filepath.Join(o.Project, ConfigName)
		sum, err := l.loadFile(path, projectKeys...)
		if err != nil {
			return Loaded{}, err
		}
		if sum != "" && len(l.problems) == 0 {
			if err := l.requireTrust(ctx, path, sum, lower); err != nil {
				return Loaded{}, err
			}
		}
	}
	if own, err := RepositoryFile(o.Env, cmp.Or(o.Project, o.Checkout)); err == nil {
		if err := l.loadOwnFile(own); err != nil {
			return Loaded{}, err
		}
	}
	lower := l.cfg
	l.applyRecord()
	l.applyEnv()
	l.applyFlags()
	unused := l.unusedVariables()
	l.cfg.setDefaultModels()
	if len(l.problems) == 0 {
		l.problems = l.cfg.validateKeys(func(key string) string {
			if at := l.origin[key]; at != "" {
				return at
			}
			return OriginDefault
		})
		l.problems = append(l.problems, l.misplacedPaths()...)
		l.problems = append(l.problems, l.distrustRecord(lower)...)
	}
	if err := l.problems.asError(""); err != nil {
		return Loaded{}, err
	}
	values := flattenConfig(l.cfg)
	sum := sha256.New()
	for _, k := range slices.Sorted(maps.Keys(values)) {
		if l.origin[k] == "" {
			l.origin[k] = OriginDefault
		}
		fmt.Fprintf(sum, "%q=%q\n", k, values[k])
	}
	for k := range l.origin { // of a profile that was replaced
		if _, ok := values[k]; !ok {
			delete(l.origin, k)
		}
	}
	return Loaded{Config: l.cfg, Origin: l.origin, Hash: company.Hash(hex.EncodeToString(sum.Sum(nil))), Unused: unused}, nil
}

// misplacedPaths refuses paths that anything but the office's own company.yaml
// names: the next command, without that, would look for the files elsewhere.
func (l *loader) misplacedPaths() problems {
	var ps problems
	own := filepath.Join(l.opts.OfficeDir, ConfigName)
	for _, key := range leafKeys(reflect.TypeFor[ReadablePaths](), "paths") {
		if at := l.origin[key]; at != "" && at != OriginDefault && (l.opts.OfficeDir == "" || !strings.HasPrefix(at, own+":")) {
			ps = append(ps, problem{at: at, key: key, what: "may be set in the office's own company.yaml alone", fix: "set it in " + own})
		}
	}
	return ps
}

// requireOwnLayer refuses a company.yaml that switches on what uses the president's
// own logins, tracked or not, trusted or not: an agent, a dependency or a stranger may
// have written it.
func (l *loader) requireOwnLayer(path string) {
	at := l.origin["git.use_my_logins"]
	if !l.cfg.Git.UseMyLogins || !strings.HasPrefix(at, path+":") {
		return
	}
	own := "your own config file, which needs a HOME"
	if p, ok := userConfig(l.opts.Env); ok {
		own = p
	}
	l.problems = append(l.problems, problem{at: at, key: "git.use_my_logins", what: "is not for a company.yaml to switch on",
		fix: "set it in " + own + " (company config set --user git.use_my_logins true), by " + EnvName("git.use_my_logins") + "=true, or by --set git.use_my_logins=true"})
}

// setDefaultModels lets the roles that judge use the strong profile where there
// is one.
func (c *Config) setDefaultModels() {
	strong := "default"
	if _, ok := c.Models["strong"]; ok {
		strong = "strong"
	}
	for _, a := range []*Agent{&c.Agents.Manager, &c.Agents.Reviewer, &c.Agents.Merger} {
		a.Model = cmp.Or(a.Model, strong)
	}
	c.Agents.Worker.Model = cmp.Or(c.Agents.Worker.Model, "default")
}

// userConfig is the user's own config file, where a home is known.
func userConfig(env func(string) (string, bool)) (string, bool) {
	if dir, ok := env("XDG_CONFIG_HOME"); ok && filepath.IsAbs(dir) {
		return filepath.Join(dir, "company", "config.yaml"), true
	}
	if home, ok := env("HOME"); ok && filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "company", "config.yaml"), true
	}
	return "", false
}

type loader struct {
	opts     LoadOptions
	cfg      Config
	origin   map[string]string
	problems problems
}

func (l *loader) newDecoder() *decoder {
	return &decoder{onSet: func(key, at string) { l.origin[key] = at }}
}

// projectKeys are what the company.yaml of a project says in another's office.
var projectKeys = []string{"gates", "container"}

// loadFile applies a config file, or only these keys of it, and returns the
// hash of its bytes, "" where there is none.
func (l *loader) loadFile(path string, only ...string) (company.Hash, error) {
	data, err := l.readFile(path)
	if data == nil || err != nil {
		return "", err
	}
	root, ps := parseYAML(path, data)
	l.problems = append(l.problems, ps...)
	if root.kind == nodeMap {
		if len(only) > 0 {
			root.fields = slices.DeleteFunc(root.fields, func(f nodeField) bool { return !slices.Contains(only, f.key) })
		}
		l.applyTree(root)
	}
	return hashText(data), nil
}

// readFile is the text of a config file, nil where there is none.
func (l *loader) readFile(path string) ([]byte, error) {
	if trial := l.opts.trial; trial != nil && trial.path == path {
		return trial.data, nil
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe of an archive holds up no command
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, company.E(company.EConfig, path+" cannot be read").Wrap(err).Fix("make it readable for you, or remove it")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, company.E(company.EConfig, path+" is not a file").Fix("remove it, or write the config there")
	}
	// A disk that folds case opens it by another name. Git and the rules for paths know it
	// by the one that is listed.
	if name, ok := folder.ListedName(path); ok && name != filepath.Base(path) {
		return nil, company.E(company.EConfig, path+" is refused").Because("its folder lists it as " + strconv.Quote(name) + ", and the disk takes both names for one").
			Fix("rename it to " + filepath.Base(path) + ", or remove it")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, company.E(company.EConfig, path+" cannot be read").Wrap(err).Fix("make it readable for you, or remove it")
	}
	return data, nil
}

func (l *loader) applyTree(root node) {
	l.cfg.Models = maps.Clone(l.cfg.Models) // the layer below keeps its own
	d := l.newDecoder()
	d.decodeValue(reflect.ValueOf(&l.cfg).Elem(), root, "", "")
	l.problems = append(l.problems, d.problems...)
}

// set writes one key from a text, as environment and flags give it.
func (l *loader) set(key, text, at string) (known bool) {
	return l.setNode(key, node{at: at, kind: nodeUntyped, text: text})
}

// setNode is set with a value that was parsed.
func (l *loader) setNode(key string, n node) (known bool) {
	d := l.newDecoder()
	if rest, ok := strings.CutPrefix(key, "models."); ok {
		name, field, _ := strings.Cut(rest, ".")
		m, exists := l.cfg.Models[name]
		if !exists {
			return false
		}
		if m.Price != nil {
			p := *m.Price
			m.Price = &p
		}
		v, tag, ok := leafOf(reflect.ValueOf(&m).Elem(), field) // m is a copy: what a map holds cannot be written in place
		if !ok {
			return false
		}
		d.decodeValue(v, n, key, tag)
		l.cfg.Models = maps.Clone(l.cfg.Models)
		l.cfg.Models[name] = m
	} else {
		v, tag, ok := leafOf(reflect.ValueOf(&l.cfg).Elem(), key)
		if !ok {
			return false
		}
		d.decodeValue(v, n, key, tag)
	}
	l.problems = append(l.problems, d.problems...)
	return true
}

// EnvName is the environment variable of a key.
func EnvName(key string) string {
	return "COMPANY_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// applyEnv applies COMPANY_* for every key there is.
func (l *loader) applyEnv() {
	for _, key := range l.allKeys() {
		if text, ok := l.opts.Env(EnvName(key)); ok {
			l.set(key, text, EnvName(key))
		}
	}
}

// otherVariables are the company's own that are no keys of the config.
func otherVariables() (names []string) {
	for _, v := range Variables() {
		if strings.HasPrefix(v.Name, "COMPANY_") {
			names = append(names, v.Name)
		}
	}
	return names
}

// unusedVariables reports the variables that were meant to set a key and do
// not: they are one slip from one that does, or begin like a section. It
// returns the other ones called COMPANY_*, which may be another program's.
func (l *loader) unusedVariables() (unused []string) {
	known := otherVariables()
	sections := map[string]bool{}
	for _, key := range l.allKeys() {
		known = append(known, EnvName(key))
		if section, _, ok := strings.Cut(key, "."); ok {
			sections[section] = true
		}
	}
	named := "" // the variables that the config names, such as those of keys
	for key, value := range flattenConfig(l.cfg) {
		if strings.HasSuffix(key, "_env") {
			named += " " + value + " "
		}
	}
	names := func(name string) bool {
		return slices.Contains(strings.FieldsFunc(named, func(r rune) bool { return !isWordRune(r) }), name)
	}
	for _, entry := range l.opts.Environ {
		name, _, _ := strings.Cut(entry, "=")
		rest, ours := strings.CutPrefix(name, "COMPANY_")
		if !ours || slices.Contains(known, name) || names(name) {
			continue
		}
		section, _, _ := strings.Cut(strings.ToLower(rest), "_")
		switch near := nearestVariable(name, known); {
		case near != "":
			l.problems = append(l.problems, problem{at: name, what: "no such variable", fix: "did you mean " + near + "?"})
		case sections[section]:
			l.problems = append(l.problems, problem{at: name, what: "no such variable", fix: "company config show lists the keys; unset it where it is not meant for the company"})
		default:
			unused = append(unused, name)
		}
	}
	slices.Sort(unused)
	return unused
}

func isWordRune(r rune) bool {
	return r == '_' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9'
}

// nearestVariable is the variable that was most likely meant, or "".
func nearestVariable(name string, known []string) string {
	var rests []string
	for _, k := range known {
		rests = append(rests, strings.ToLower(strings.TrimPrefix(k, "COMPANY_")))
	}
	rest := strings.ToLower(strings.TrimPrefix(name, "COMPANY_"))
	if near := NearestName(rest, rests, max(1, len(rest)/5)); near != "" {
		return "COMPANY_" + strings.ToUpper(near)
	}
	return ""
}

// allKeys are all keys that can be set, those of the profiles there are included.
func (l *loader) allKeys() []string {
	var keys []string
	for name := range l.cfg.Models {
		keys = append(keys, leafKeys(reflect.TypeFor[Model](), "models."+name)...)
	}
	slices.Sort(keys)
	return append(keys, leafKeys(reflect.TypeFor[Config](), "")...)
}
