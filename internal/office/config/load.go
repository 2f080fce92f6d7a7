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
	"company/internal/lib/safedir"
)

// ConfigName is the file that makes a folder an office.
const ConfigName = "company.yaml"

// OriginDefault is the origin of a value that no source sets.
const OriginDefault = "default"

// LoadOptions selects the sources of the config.
type LoadOptions struct {
	// OfficeDir is the folder of company.yaml. A missing file sets no values.
	OfficeDir string
	// Project is the checkout that a task is about, if it is not the office's own. The keys under gates and container in
	// its company.yaml override the office's, because they describe how that repository is built and tested. The other
	// keys only apply to an office in that checkout.
	Project string
	// Checkout is the checkout that the office is in. It selects the user's own file for that repository
	// (RepositoryFile). If it is empty, no such file is read. If Project is set, the file for Project is read instead.
	Checkout string
	// Env looks up a variable, as os.LookupEnv does.
	Env func(string) (string, bool)
	// Environ is the whole environment, as os.Environ returns it. It is searched for COMPANY_* variables that set no key.
	// If it is nil, that check is skipped.
	Environ []string
	// Flags are keys set on the command line, such as workers.max → "5".
	Flags map[string]string
	// Record holds values from the record of a task (RecordedValues). They override all files.
	Record map[string]string

	// trial is a file that is about to be written, and is read in place of the one on disk. If it is nil, all files are
	// read from disk.
	trial *trialFile
}

// trialFile is the planned text of a config file, read in its place. Settings that need trust are collected in
// requests instead of being refused.
type trialFile struct {
	path     string
	data     []byte
	requests []TrustRequest
}

// Loaded is a config with the origin of each value.
type Loaded struct {
	Config Config
	// Origin maps each key to the source of its value: "default", "/path/company.yaml:3:5", "COMPANY_WORKERS_MAX", "flag
	// workers.max".
	Origin map[string]string
	// Hash is the hash of all values of the config.
	Hash company.Hash
	// Unused lists variables named COMPANY_* that set no key and resemble none. They may belong to other programs.
	Unused []string
}

// Load reads the config. The order of precedence is: flag, COMPANY_*, the user's own file for the repository,
// company.yaml of the office, $XDG_CONFIG_HOME/company/config.yaml, default (CFG-3). The gates and container of a
// project that is not the office's own override the office's. The environment variable of a key is COMPANY_ and the
// key in capitals, with _ for each dot and dash. No .env file is read.
//
// All problems are reported in one E_CONFIG error. Settings of a company.yaml that need trust are refused by name.
func Load(ctx context.Context, loadOptions LoadOptions) (Loaded, error) {
	if loadOptions.Env == nil {
		loadOptions.Env = func(string) (string, bool) { return "", false }
	}
	l := loader{opts: loadOptions, cfg: Default(), origin: map[string]string{}}
	if p, ok := userConfig(loadOptions.Env); ok {
		if _, err := l.loadFile(p); err != nil {
			return Loaded{}, err
		}
	}
	if loadOptions.OfficeDir != "" {
		lower := l.cfg
		path := filepath.Join(loadOptions.OfficeDir, ConfigName)
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
	if loadOptions.Project != "" && loadOptions.Project != loadOptions.OfficeDir {
		lower := l.cfg
		path := filepath.Join(loadOptions.Project, ConfigName)
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
	if own, err := RepositoryFile(loadOptions.Env, cmp.Or(loadOptions.Project, loadOptions.Checkout)); err == nil {
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
		l.problems = append(l.problems, l.scriptsOutsideTests()...)
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
	for k := range l.origin { // those of a profile that was replaced
		if _, ok := values[k]; !ok {
			delete(l.origin, k)
		}
	}
	return Loaded{Config: l.cfg, Origin: l.origin, Hash: company.Hash(hex.EncodeToString(sum.Sum(nil))),
		Unused: unused}, nil
}

// misplacedPaths reports paths that are set anywhere but in the office's own company.yaml. The next command might not
// have that source, and would look for the files elsewhere.
func (l *loader) misplacedPaths() problems {
	var ps problems
	own := filepath.Join(l.opts.OfficeDir, ConfigName)
	for _, key := range leafKeys(reflect.TypeFor[ReadablePaths](), "paths") {
		if at := l.origin[key]; at != "" && at != OriginDefault &&
			(l.opts.OfficeDir == "" || !strings.HasPrefix(at, own+":")) {
			ps = append(
				ps, problem{at: at, key: key, what: "may be set in the office's own company.yaml alone", fix: "set it in " + own})
		}
	}
	return ps
}

// VarEnvironment is the variable that says whether company runs in a test or in production.
const VarEnvironment = "COMPANY_ENV"

// scriptsOutsideTests reports profiles whose replies come from a script instead of a model (X27). They need
// COMPANY_ENV=test or --set on the command line, and are never used in production.
func (l *loader) scriptsOutsideTests() problems {
	var ps problems
	environment, _ := l.opts.Env(VarEnvironment)
	for _, name := range l.cfg.scriptedProfiles() {
		key := "models." + name + ".adapter"
		at := l.origin[key]
		switch {
		case environment == "production":
			ps = append(ps, problem{at: at, key: key, what: "is scripted, which is forbidden with COMPANY_ENV=production",
				fix: "choose an adapter with a model"})
		case environment != "" && environment != "test":
			ps = append(ps, problem{at: at, key: key,
				what: "is scripted, and COMPANY_ENV is " + shortenText(strconv.Quote(environment)),
				fix:  "set COMPANY_ENV=test, or choose an adapter with a model"})
		case environment == "" && !strings.HasPrefix(at, "flag "):
			ps = append(ps, problem{at: at, key: key, what: "is scripted, which is for tests",
				fix: "set COMPANY_ENV=test, or choose an adapter with a model"})
		}
	}
	return ps
}

// scriptedProfiles returns the names of the profiles with the scripted adapter.
func (c *Config) scriptedProfiles() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Models)) {
		if c.Models[name].Adapter == "scripted" {
			names = append(names, name)
		}
	}
	return names
}

// requireOwnLayer refuses a company.yaml that allows use of the president's own logins, whether or not it is tracked
// or trusted. An agent, a dependency or a stranger may have written the file.
func (l *loader) requireOwnLayer(path string) {
	at := l.origin["git.use_my_logins"]
	if !l.cfg.Git.UseMyLogins || !strings.HasPrefix(at, path+":") {
		return
	}
	own := "your own config file, which needs a HOME"
	if p, ok := userConfig(l.opts.Env); ok {
		own = p
	}
	l.problems = append(l.problems,
		problem{at: at, key: "git.use_my_logins", what: "is not for a company.yaml to switch on",
			fix: "set it in " + own + " (company config set --user git.use_my_logins true), by " + EnvName("git.use_my_logins") +
				"=true, or by --set git.use_my_logins=true"})
}

// setDefaultModels gives managers, reviewers and mergers the strong profile by default, if there is one.
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

// userConfig returns the path of the user's own config file. ok is false if no home folder is known.
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

// projectKeys are the keys that apply from the company.yaml of a project outside of the office.
var projectKeys = []string{"gates", "container"}

// loadFile applies a config file, or only the given keys of it. It returns the hash of its bytes, or "" if the file
// does not exist.
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

// readFile returns the text of a config file, or nil if it does not exist.
func (l *loader) readFile(path string) ([]byte, error) {
	if trial := l.opts.trial; trial != nil && trial.path == path {
		return trial.data, nil
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not block on a named pipe
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, company.E(company.EConfig, path+" cannot be read").Wrap(err).Fix("make it readable for you, or remove it")
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, company.E(company.EConfig, path+" is not a file").Fix("remove it, or write the config there")
	}
	// A disk that ignores case opens the file under another name. Git and the rules for paths use the listed name.
	if name, ok := safedir.ListedName(path); ok && name != filepath.Base(path) {
		return nil, company.E(company.EConfig, path+" is refused").
			Because("its folder lists it as " + strconv.Quote(name) + ", and the disk treats both names as one").
			Fix("rename it to " + filepath.Base(path) + ", or remove it")
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, company.E(company.EConfig, path+" cannot be read").Wrap(err).Fix("make it readable for you, or remove it")
	}
	return data, nil
}

func (l *loader) applyTree(root node) {
	l.cfg.Models = maps.Clone(l.cfg.Models) // do not change the map of the layer below
	decoder := l.newDecoder()
	decoder.decodeValue(reflect.ValueOf(&l.cfg).Elem(), root, "", "")
	l.problems = append(l.problems, decoder.problems...)
}

// set sets one key from a text, as given by an environment variable or a flag.
func (l *loader) set(key, text, at string) (known bool) {
	return l.setNode(key, node{at: at, kind: nodeUntyped, text: text})
}

// setNode is like set, for a parsed value.
func (l *loader) setNode(key string, n node) (known bool) {
	decoder := l.newDecoder()
	if rest, ok := strings.CutPrefix(key, "models."); ok {
		name, field, _ := strings.Cut(rest, ".")
		model, exists := l.cfg.Models[name]
		if !exists {
			return false
		}
		if model.Price != nil {
			p := *model.Price
			model.Price = &p
		}
		// a value in a map cannot be changed in place, so model is a copy
		v, tag, ok := leafOf(reflect.ValueOf(&model).Elem(), field)
		if !ok {
			return false
		}
		decoder.decodeValue(v, n, key, tag)
		l.cfg.Models = maps.Clone(l.cfg.Models)
		l.cfg.Models[name] = model
	} else {
		v, tag, ok := leafOf(reflect.ValueOf(&l.cfg).Elem(), key)
		if !ok {
			return false
		}
		decoder.decodeValue(v, n, key, tag)
	}
	l.problems = append(l.problems, decoder.problems...)
	return true
}

// EnvName returns the name of the environment variable of a key.
func EnvName(key string) string {
	return "COMPANY_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// applyEnv applies the COMPANY_* variable of every key.
func (l *loader) applyEnv() {
	for _, key := range l.allKeys() {
		if text, ok := l.opts.Env(EnvName(key)); ok {
			l.set(key, text, EnvName(key))
		}
	}
}

// otherVariables returns the names of COMPANY_* variables that are used by company but are no config keys.
func otherVariables() (names []string) {
	for _, variable := range Variables() {
		if strings.HasPrefix(variable.Name, "COMPANY_") {
			names = append(names, variable.Name)
		}
	}
	return names
}

// unusedVariables reports variables that were meant to set a key and do not: they are misspelled, or begin like a
// section. It returns the other COMPANY_* variables that set no key. These may belong to another program.
func (l *loader) unusedVariables() (unused []string) {
	known := otherVariables()
	sections := map[string]bool{}
	for _, key := range l.allKeys() {
		known = append(known, EnvName(key))
		if section, _, ok := strings.Cut(key, "."); ok {
			sections[section] = true
		}
	}
	named := "" // names of variables that the config refers to, such as those that hold API keys
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
			l.problems = append(l.problems,
				problem{at: name, what: "no such variable",
					fix: "company config show lists the keys; unset it where it is not meant for the company"})
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

// nearestVariable returns the known variable that was most likely meant, or "".
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

// allKeys returns all keys that can be set, those of the existing profiles included.
func (l *loader) allKeys() []string {
	var keys []string
	for name := range l.cfg.Models {
		keys = append(keys, leafKeys(reflect.TypeFor[Model](), "models."+name)...)
	}
	slices.Sort(keys)
	return append(keys, leafKeys(reflect.TypeFor[Config](), "")...)
}
