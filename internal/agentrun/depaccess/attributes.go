package depaccess

import (
	"bytes"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem/depproxy"
	"company/internal/gitops"
)

// converters maps attributes with which git converts texts in a checkout or an archive to the text that they
// need. An attribute with such a text changes no file without it.
var converters = map[string]string{
	"working-tree-encoding": "", "ident": "$Id", "filter": "", "eol": "", "export-subst": "$Format:",
}

// FindConverted lists lock files and manifests of a tree that git converts on checkout or in an archive, each
// with its attribute. People would then get another text than the one that is compared. Files with the same
// attribute and text in the base are left out.
func FindConverted(ctx context.Context, mirror *gitops.Mirror, base, at company.OID) (out []string, err error) {
	scope, entries, err := findScope(ctx, mirror, base, at)
	if err != nil {
		return nil, err
	}
	var paths []string
	all := map[string]gitops.Entry{}
	for _, entry := range entries {
		if depproxy.IsLockFile(entry.Path) || mayName(entry.Path) || path.Base(entry.Path) == ".gitattributes" {
			if isFile(entry) && !scope.leavesOut(entry) {
				paths = append(paths, entry.Path)
				all[entry.Path] = entry
			}
		}
	}
	before, err := mirror.List(ctx, base)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(converters))
	var mayMatter []gitops.Entry
	found := map[string][]string{} // attributes, by path
	for _, folds := range []bool{false, true} {
		is, err := mirror.ReadAttributes(ctx, at, paths, names, folds)
		if err != nil {
			return nil, err
		}
		was, err := mirror.ReadAttributes(ctx, base, paths, names, folds)
		if err != nil {
			return nil, err
		}
		for attribute, value := range is {
			isOld := was[attribute] == value && (attribute.Name == "eol" || slices.Contains(before, all[attribute.Path]))
			if !isOld && changesText(attribute.Name, value) {
				found[attribute.Path] = append(found[attribute.Path], attribute.Name)
				mayMatter = append(mayMatter, all[attribute.Path])
			}
		}
	}
	texts := map[string]bool{}
	err = mirror.ReadFiles(ctx, mayMatter, func(e gitops.Entry, text []byte) error {
		for _, name := range found[e.Path] {
			if bytes.Contains(text, []byte(converters[name])) {
				texts[e.Path+" ("+name+")"] = true
			}
		}
		return nil
	})
	return slices.Sorted(maps.Keys(texts)), err
}

// changesText reports whether an attribute of this value converts texts at all.
func changesText(name, value string) bool {
	value = strings.ToLower(value)
	return !(name == "eol" && value != "crlf" || name == "working-tree-encoding" && (value == "utf-8" || value == "utf8"))
}
