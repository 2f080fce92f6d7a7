package config

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/folder"
)

// lockPatience is how long a change waits for another process that writes in the same
// folder.
const lockPatience = 10 * time.Second

// Change is one key of a config file that gets a value, or loses the one it has.
type Change struct {
	File  string // the office's company.yaml, or the user's own file
	Key   string // workers.max, models.strong, agents.worker
	Value string // as --set takes it; of a section or a profile: a mapping in YAML
	Unset bool
	// Begin is what a file that is not there yet begins with: comments, in whole lines.
	Begin string
	// DryRun has the change planned, and nothing written.
	DryRun bool

	// Digest is the FileDigest of the file as the caller read it. A file with another one is
	// left as it is. With nil any file is changed.
	Digest *string
	// Remote is set for a change that comes from outside the machine: it may set RemoteKeys
	// alone, and loosen nothing.
	Remote bool
}

// Changed is the outcome of a change.
type Changed struct {
	TextBefore, TextAfter []byte         // the text of the file, or nil without one
	Was, Now              string         // the key in the file, as YAML on one line; empty: not set
	Before                *Loaded        // the config without the change; nil: it did not load
	After                 Loaded         // the config with it, as though each file were trusted
	Requests              []TrustRequest // keys of the file that count only once it is trusted
	trusted               bool           // what the file asked for before counts already
}

// UserFile is the user's own config file, which need not exist.
func UserFile(env func(string) (string, bool)) (string, error) {
	if path, ok := userConfig(env); ok {
		return path, nil
	}
	return "", company.E(company.EConfig, "there is no place for a config of your own").Because("neither HOME nor XDG_CONFIG_HOME is an absolute path").
		Fix("set HOME, or change the project's file: --project")
}

// ChangeFile changes one key of a config file and nothing else in it: comments, order
// and layout stay. The whole config is read with the change before anything is
// written; the file is then replaced at once, or not at all. Two changes of one folder
// wait for each other. EConflict: the file is another one than Digest names, or was changed
// meanwhile. EAccess: the change is Remote and asks for too much.
func ChangeFile(ctx context.Context, o LoadOptions, c Change) (Changed, error) {
	if o.Env == nil {
		o.Env = func(string) (string, bool) { return "", false }
	}
	o.Flags = nil
	if err := checkRemoteKey(c); err != nil {
		return Changed{}, err
	}
	dir, err := folder.Open(filepath.Dir(c.File))
	if errors.Is(err, fs.ErrNotExist) {
		if _, changed, err := planChange(ctx, o, c, nil); err != nil || c.DryRun {
			return changed, err
		}
		dir, err = folder.Make(filepath.Dir(c.File))
	}
	if err != nil {
		return Changed{}, unwritableError(c.File, err)
	}
	defer dir.Close()
	waiting, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	unlock, err := dir.LockBefore(waiting)
	if err != nil {
		if ctx.Err() != nil {
			return Changed{}, context.Cause(ctx)
		}
		return Changed{}, unwritableError(c.File, err).Because("another process writes there").Fix("try again; if this lasts, see which process holds " + dir.Path())
	}
	defer unlock()
	name := filepath.Base(c.File)
	mode, err := checkWritable(dir, name)
	if err != nil {
		return Changed{}, err
	}
	old, err := readChanged(dir, name)
	if err != nil {
		return Changed{}, unwritableError(c.File, err)
	}
	text, changed, err := planChange(ctx, o, c, old)
	if err != nil || c.DryRun || bytes.Equal(text, old) {
		return changed, err
	}
	// An editor takes no lock.
	if now, err := readChanged(dir, name); err != nil || !bytes.Equal(now, old) {
		return Changed{}, company.E(company.EConflict, c.File+" was changed by another program meanwhile").Wrap(err).Fix("look at it, then try again")
	}
	removeLeftovers(dir, name)
	// The command lets its own key count, and no other.
	if changed.trusted && len(changed.Requests) > 0 {
		if err := OpenTrust(o.Env).AddText(text, c.File); err != nil {
			return Changed{}, err
		}
		changed.Requests = nil
	}
	if err := errors.Join(dir.WriteFile(name, text, mode), dir.Sync(".")); err != nil {
		return Changed{}, unwritableError(c.File, err)
	}
	return changed, nil
}

func unwritableError(file string, err error) *company.Error {
	return company.E(company.EConfig, file+" cannot be changed").Wrap(err).Fix("see that the file and its folder are yours and have space")
}

// readChanged is the text of the file, nil where there is none.
func readChanged(dir *folder.Folder, name string) ([]byte, error) {
	data, err := dir.ReadFile(name, 2*maxFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// checkWritable refuses a file that is not to be replaced, and gives the permissions of
// its successor.
func checkWritable(dir *folder.Folder, name string) (fs.FileMode, error) {
	info, err := dir.Lstat(name)
	fail := func(why, fix string) (fs.FileMode, error) {
		return 0, company.E(company.EConfig, dir.Join(name)+" cannot be changed").Because(why).Fix(fix)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o600, nil
	case err != nil:
		return 0, unwritableError(dir.Join(name), err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fail("it is a symbolic link, which would be replaced by a file", "edit the file that it leads to, or put a plain file in its place")
	case !info.Mode().IsRegular():
		return fail("it is not a file", "remove it, or move it away")
	case !folder.OwnedByUs(info):
		return fail("it belongs to another user", "run the command as its owner, or change your own file: --user")
	case info.Mode().Perm()&0o200 == 0:
		return fail("it is read-only", "chmod u+w "+dir.Join(name)+", or change your own file: --user")
	case folder.LinkCount(info) > 1:
		return fail("it has a second name (a hard link), which would keep the old text", "edit it by hand")
	}
	return info.Mode().Perm(), nil
}

// removeLeftovers removes what a change that was killed left beside the file.
func removeLeftovers(dir *folder.Folder, name string) {
	entries, _ := dir.List(".")
	for _, e := range entries {
		if folder.IsUnfinished(e.Name(), name) {
			_ = dir.Remove(e.Name()) // it is in nobody's way
		}
	}
}

// planChange is the text of the file with the change, and its outcome. old is the file
// as it is, nil where there is none.
func planChange(ctx context.Context, o LoadOptions, c Change, old []byte) ([]byte, Changed, error) {
	if err := checkDigest(c, old); err != nil {
		return nil, Changed{}, err
	}
	path := strings.Split(c.Key, ".")
	was, stands, err := findInFile(c.File, old, path)
	if err != nil {
		return nil, Changed{}, err
	}
	var value *node
	switch field, err := findKey(c.Key); {
	case c.Unset && !stands:
		if err != nil {
			return nil, Changed{}, problems{*err}.asError("")
		}
		return nil, Changed{}, notSetError(ctx, o, c)
	case c.Unset:
	case err != nil:
		return nil, Changed{}, problems{*err}.asError("")
	default:
		if value, err = field.readValue(c.Key, c.Value); err != nil {
			return nil, Changed{}, problems{*err}.asError("")
		}
	}
	text, err := editText(c.File, startText(old, c.Begin), path, value)
	if errors.Is(err, errLayout) || errors.Is(err, errComment) {
		return nil, Changed{}, company.E(company.EConfig, c.Key+" cannot be changed in "+c.File+" by a command").Wrap(err).Fix("edit the file by hand, then: company config check")
	}
	if err != nil {
		return nil, Changed{}, err
	}
	out := Changed{TextBefore: old, TextAfter: text}
	before := o
	before.trial = &trialFile{path: c.File, data: old}
	if loaded, err := Load(ctx, before); err == nil {
		out.Before = &loaded
		out.trusted = len(before.trial.requests) == 0 || OpenTrust(o.Env).Trusted(hashText(old))
	}
	o.trial = &trialFile{path: c.File, data: text}
	if out.After, err = Load(ctx, o); err == nil {
		err = out.After.CheckKeyFiles()
	}
	if err == nil {
		err = checkRemoteChange(ctx, o, c, old, text)
	}
	if err != nil {
		return nil, Changed{}, err
	}
	out.Requests = o.trial.requests
	if stands {
		out.Was = renderNode(was)
		if out.Before == nil { // it may be a key that somebody wrote there by mistake
			out.Was = "not shown: the config was not in order"
		}
	}
	if value != nil {
		out.Now = renderNode(*value)
	}
	return text, out, nil
}

// startText is the text that a change begins with.
func startText(old []byte, begin string) []byte {
	if old == nil {
		return []byte(begin + "version: 1\n")
	}
	return old
}

// findInFile is the value of a key in a file.
func findInFile(name string, data []byte, path []string) (value node, ok bool, err error) {
	if !slices.ContainsFunc(splitConfigText(string(data)).lines, hasContent) {
		return node{}, false, nil
	}
	root, faults := parseYAML(name, data)
	if err := faults.asError(""); err != nil {
		return node{}, false, err
	}
	value, ok = root.findValue(path)
	return value, ok, nil
}

// notSetError says where a key that the file does not set has its value from.
func notSetError(ctx context.Context, o LoadOptions, c Change) error {
	e := company.E(company.ENotFound, c.Key+" is not set in "+c.File)
	o.trial = &trialFile{} // the trust of other files is no matter here
	loaded, err := Load(ctx, o)
	from := loaded.Origin[c.Key]
	switch {
	case err != nil || from == "":
		return e.Fix("company config show lists the keys and where they come from")
	case from == OriginDefault:
		return e.Because("it has its default").Fix("there is nothing to do")
	}
	return e.Because("it comes from " + from).Fix("change it there")
}

// keyField is a key of the schema.
type keyField struct {
	of  reflect.Type
	tag reflect.StructTag
}

// findKey finds a key, a section or a profile in the schema.
func findKey(key string) (keyField, *problem) {
	field, parent := keyField{of: reflect.TypeFor[Config]()}, ""
	for part := range strings.SplitSeq(key, ".") {
		if field.of.Kind() == reflect.Pointer && !isLeaf(field.of) {
			field.of = field.of.Elem()
		}
		switch {
		case isLeaf(field.of):
			return keyField{}, &problem{at: "KEY", what: parent + " has no keys below it", fix: "company config set " + parent}
		case field.of.Kind() == reflect.Map && !profileRE.MatchString(part):
			return keyField{}, &problem{at: "KEY", what: shortenText(quoteIfOdd(part)) + " is no name of a profile", fix: "allowed: up to 32 of a-z, 0-9, _ and -, a letter or digit first"}
		case field.of.Kind() == reflect.Map:
			field = keyField{of: field.of.Elem()}
		default:
			names := sectionKeys(field.of)
			i := slices.Index(names, part)
			if i < 0 {
				d := decoder{}
				d.reportUnknownKey(nodeField{at: "KEY", key: part}, parent, names)
				return keyField{}, &d.problems[0]
			}
			f := field.of.Field(i)
			field = keyField{f.Type, f.Tag}
		}
		parent = joinKey(parent, part)
	}
	return field, nil
}

// readValue reads a value as a person types it: one of a leaf as --set takes it, a
// section as YAML. What the schema refuses is an error.
func (f keyField) readValue(key, text string) (*node, *problem) {
	decode := func(n node) (reflect.Value, *problem) {
		d := decoder{onSet: func(string, string) {}}
		v := reflect.New(f.of).Elem()
		if f.of.Kind() == reflect.Map {
			v.Set(reflect.MakeMap(f.of))
		}
		d.decodeValue(v, n, key, f.tag)
		if len(d.problems) > 0 {
			return v, &d.problems[0]
		}
		return v, nil
	}
	typed, isYAML := parseValue(text)
	typed = typed.placeAt("VALUE")
	if !isLeaf(f.of) {
		if !isYAML || typed.kind != nodeMap {
			typed = node{at: "VALUE", kind: nodeText, text: text}
		}
		if _, err := decode(typed); err != nil {
			return nil, err
		}
		value := typed.withoutPlaces()
		return &value, nil
	}
	v, err := decode(node{at: "VALUE", kind: nodeUntyped, text: text})
	if isYAML { // as it was typed, where it means the same
		if same, fault := decode(typed); fault == nil && (err != nil || reflect.DeepEqual(same.Interface(), v.Interface())) {
			value := typed.withoutPlaces()
			return &value, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	value, ok := parseValue(humanValue(v))
	if !ok {
		return nil, &problem{at: "VALUE", key: key, what: "cannot be written as YAML", fix: "edit the file by hand, then: company config check"}
	}
	return &value, nil
}
