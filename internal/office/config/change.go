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
	"company/internal/lib/safedir"
)

// lockPatience limits how long a change waits for another process that writes in the same folder.
const lockPatience = 10 * time.Second

// Change sets or removes one key of a config file.
type Change struct {
	File  string // the office's company.yaml, or the user's own file
	Key   string // workers.max, models.strong, agents.worker
	Value string // as for --set; for a section or a profile, a mapping in YAML
	Unset bool
	// Begin is the start of a newly created file: comments, in whole lines.
	Begin string
	// DryRun plans the change without writing the file.
	DryRun bool

	// Digest is the FileDigest of the file as the caller read it. If the file has another digest it is not changed. A nil
	// Digest allows any content.
	Digest *string
	// Remote is set for a change from outside of the machine. It may only set remoteKeys, and only to values that are no
	// less strict.
	Remote bool
}

// Changed is the outcome of a change.
type Changed struct {
	TextBefore, TextAfter []byte         // the text of the file, or nil if there is no file
	Was, Now              string         // the value in the file, as YAML on one line; empty if not set
	Before                *Loaded        // the config without the change; nil if it did not load
	After                 Loaded         // the config with the change, as if every file were trusted
	Requests              []TrustRequest // settings of the file that need trust before they apply
	trusted               bool           // the settings that needed trust before already have it
}

// UserFile returns the path of the user's own config file, which may not exist.
func UserFile(env func(string) (string, bool)) (string, error) {
	if path, ok := userConfig(env); ok {
		return path, nil
	}
	return "", company.E(company.EConfig, "there is no folder for your own config").
		Because("neither HOME nor XDG_CONFIG_HOME is an absolute path").
		Fix("set HOME, or change the project's file: --project")
}

// ChangeFile changes one key of a config file. Comments, order and layout stay. The whole config is loaded with the
// change before the file is written. The file is replaced atomically. Changes in the same folder wait for each other.
// The error is EConflict if the file does not match Digest or was changed meanwhile, and EAccess if a Remote change is
// not allowed.
func ChangeFile(ctx context.Context, loadOptions LoadOptions, change Change) (Changed, error) {
	if loadOptions.Env == nil {
		loadOptions.Env = func(string) (string, bool) { return "", false }
	}
	loadOptions.Flags = nil
	if err := checkRemoteKey(change); err != nil {
		return Changed{}, err
	}
	dir, err := safedir.Open(filepath.Dir(change.File))
	if errors.Is(err, fs.ErrNotExist) {
		if _, changed, err := planChange(ctx, loadOptions, change, nil); err != nil || change.DryRun {
			return changed, err
		}
		dir, err = safedir.Make(filepath.Dir(change.File))
	}
	if err != nil {
		return Changed{}, unwritableError(change.File, err)
	}
	defer dir.Close()
	waiting, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	unlock, err := dir.LockBefore(waiting)
	if err != nil {
		if ctx.Err() != nil {
			return Changed{}, context.Cause(ctx)
		}
		return Changed{}, unwritableError(change.File, err).Because("another process writes there").
			Fix("try again; if this lasts, see which process holds " + dir.Path())
	}
	defer unlock()
	name := filepath.Base(change.File)
	mode, err := checkWritable(dir, name)
	if err != nil {
		return Changed{}, err
	}
	old, err := readChanged(dir, name)
	if err != nil {
		return Changed{}, unwritableError(change.File, err)
	}
	text, changed, err := planChange(ctx, loadOptions, change, old)
	if err != nil || change.DryRun || bytes.Equal(text, old) {
		return changed, err
	}
	// Editors do not take the lock.
	if now, err := readChanged(dir, name); err != nil || !bytes.Equal(now, old) {
		return Changed{}, company.E(company.EConflict, change.File+" was changed by another program meanwhile").Wrap(err).
			Fix("check it, then try again")
	}
	removeLeftovers(dir, name)
	// Trust that existed before is kept: the command itself only adds its own key.
	if changed.trusted && len(changed.Requests) > 0 {
		if err := OpenTrust(loadOptions.Env).AddText(text, change.File); err != nil {
			return Changed{}, err
		}
		changed.Requests = nil
	}
	if err := errors.Join(dir.WriteFile(name, text, mode), dir.Sync(".")); err != nil {
		return Changed{}, unwritableError(change.File, err)
	}
	return changed, nil
}

func unwritableError(file string, err error) *company.Error {
	return company.E(company.EConfig, file+" cannot be changed").Wrap(err).
		Fix("check that you own the file and its folder, and that the disk has space")
}

// readChanged returns the text of the file, or nil if it does not exist.
func readChanged(dir *safedir.Folder, name string) ([]byte, error) {
	data, err := dir.ReadFile(name, 2*maxFileBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if data == nil {
		data = []byte{}
	}
	return data, err
}

// checkWritable refuses a file that must not be replaced, and returns the permissions for the new file.
func checkWritable(dir *safedir.Folder, name string) (fs.FileMode, error) {
	info, err := dir.Lstat(name)
	fail := func(reason, fix string) (fs.FileMode, error) {
		return 0, company.E(company.EConfig, dir.Join(name)+" cannot be changed").Because(reason).Fix(fix)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o600, nil
	case err != nil:
		return 0, unwritableError(dir.Join(name), err)
	case info.Mode()&fs.ModeSymlink != 0:
		return fail("it is a symbolic link, which would be replaced by a file",
			"edit the file that it points to, or replace it by a plain file")
	case !info.Mode().IsRegular():
		return fail("it is not a file", "remove it, or move it away")
	case !safedir.OwnedByUs(info):
		return fail("it belongs to another user", "run the command as its owner, or change your own file: --user")
	case info.Mode().Perm()&0o200 == 0:
		return fail("it is read-only", "chmod u+w "+dir.Join(name)+", or change your own file: --user")
	case safedir.LinkCount(info) > 1:
		return fail("it has a second name (a hard link), which would keep the old text", "edit it by hand")
	}
	return info.Mode().Perm(), nil
}

// removeLeftovers removes temporary files that a killed change left beside the file.
func removeLeftovers(dir *safedir.Folder, name string) {
	entries, _ := dir.List(".")
	for _, entry := range entries {
		if safedir.IsUnfinished(entry.Name(), name) {
			_ = dir.Remove(entry.Name()) // a leftover does no harm
		}
	}
}

// planChange returns the changed text of the file, and the outcome. old is the current text, or nil if there is no
// file.
func planChange(ctx context.Context, loadOptions LoadOptions, change Change, old []byte) ([]byte, Changed, error) {
	if err := checkDigest(change, old); err != nil {
		return nil, Changed{}, err
	}
	path := strings.Split(change.Key, ".")
	was, stands, err := findInFile(change.File, old, path)
	if err != nil {
		return nil, Changed{}, err
	}
	var value *node
	switch field, err := findKey(change.Key); {
	case change.Unset && !stands:
		if err != nil {
			return nil, Changed{}, problems{*err}.asError("")
		}
		return nil, Changed{}, notSetError(ctx, loadOptions, change)
	case change.Unset:
	case err != nil:
		return nil, Changed{}, problems{*err}.asError("")
	default:
		if value, err = field.readValue(change.Key, change.Value); err != nil {
			return nil, Changed{}, problems{*err}.asError("")
		}
	}
	text, err := editText(change.File, startText(old, change.Begin), path, value)
	if errors.Is(err, errLayout) || errors.Is(err, errComment) {
		return nil, Changed{}, company.E(
			company.EConfig, change.Key+" cannot be changed in "+change.File+" by a command").Wrap(err).
			Fix("edit the file by hand, then: company config check")
	}
	if err != nil {
		return nil, Changed{}, err
	}
	out := Changed{TextBefore: old, TextAfter: text}
	before := loadOptions
	before.trial = &trialFile{path: change.File, data: old}
	if loaded, err := Load(ctx, before); err == nil {
		out.Before = &loaded
		out.trusted = len(before.trial.requests) == 0 || OpenTrust(loadOptions.Env).Trusted(hashText(old))
	}
	loadOptions.trial = &trialFile{path: change.File, data: text}
	if out.After, err = Load(ctx, loadOptions); err == nil {
		err = out.After.CheckKeyFiles()
	}
	if err == nil {
		err = checkRemoteChange(ctx, loadOptions, change, old, text)
	}
	if err != nil {
		return nil, Changed{}, err
	}
	out.Requests = loadOptions.trial.requests
	if stands {
		out.Was = renderNode(was)
		if out.Before == nil { // it may be a key that was written there by mistake
			out.Was = "not shown: the config was not in order"
		}
	}
	if value != nil {
		out.Now = renderNode(*value)
	}
	return text, out, nil
}

// startText returns the text that a change starts from.
func startText(old []byte, begin string) []byte {
	if old == nil {
		return []byte(begin + "version: 1\n")
	}
	return old
}

// findInFile returns the value of a key in a file.
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

// notSetError returns an error that names the source of a key that the file does not set.
func notSetError(ctx context.Context, loadOptions LoadOptions, change Change) error {
	fault := company.E(company.ENotFound, change.Key+" is not set in "+change.File)
	loadOptions.trial = &trialFile{} // trust of other files does not matter here
	loaded, err := Load(ctx, loadOptions)
	from := loaded.Origin[change.Key]
	switch {
	case err != nil || from == "":
		return fault.Fix("company config show lists the keys and where they come from")
	case from == OriginDefault:
		return fault.Because("it has its default").Fix("nothing to do")
	}
	return fault.Because("it comes from " + from).Fix("change it there")
}

// keyField is the type and tag of a key in the schema.
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
			return keyField{}, &problem{at: "KEY", what: shortenText(quoteIfOdd(part)) + " is not a name of a profile",
				fix: "allowed: up to 32 of a-z, 0-9, _ and -, a letter or digit first"}
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

// readValue parses a value that a person typed: for a single value like --set, for a section as YAML. It returns an
// error for values that the schema refuses.
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
	if isYAML { // keep it as typed if it means the same
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
		return nil, &problem{at: "VALUE", key: key, what: "cannot be written as YAML",
			fix: "edit the file by hand, then: company config check"}
	}
	return &value, nil
}
