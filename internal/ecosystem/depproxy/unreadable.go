package depproxy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/ecosystem"
)

// UnreadableLock is a lock file that cannot be judged, because its client may read it differently.
type UnreadableLock struct{ File, Why string }

// FindUnreadable lists the lock files of a tree that differ from the base's and are not in the form that their client
// writes. A package that is not read is not compared, and checks here may never fetch it. Errors that the base's file
// has as well also count, because a line added behind them may mean something else to the client.
func FindUnreadable(base, tree map[string][]byte) (out []UnreadableLock) {
	for _, file := range slices.Sorted(maps.Keys(tree)) {
		if was, had := base[file]; had && bytes.Equal(was, tree[file]) {
			continue
		}
		locker := lockerOf(file)
		if locker == nil {
			if as := ofOtherLetters(file); as != "" {
				out = append(out, UnreadableLock{file, fmt.Sprintf("on macOS and Windows it is %s: give it that name, or another "+
					"one", as)})
			}
			continue
		}
		reason := explainForm(locker, file, tree[file], base[file])
		if reason == "" {
			reason = explainTop(locker, file, tree[file], base)
		}
		if reason != "" {
			out = append(out, UnreadableLock{file, reason})
		}
	}
	return out
}

// explainForm returns the reason why a lock file cannot be judged, or "". Packages with an invalid name or version
// count only if the base's file does not have them.
func explainForm(locker ecosystem.Locker, file string, text, base []byte) string {
	if len(text) > MaxLockFile {
		return fmt.Sprintf("it is over %d MiB", MaxLockFile>>20)
	}
	formChecker, ok := locker.(ecosystem.FormChecker)
	isWritten := ok && formChecker.IsWritten(file)
	if isWritten {
		if err := formChecker.CheckForm(file, text); err != nil {
			return err.Error()
		}
	}
	var had []company.Dependency
	var before error
	if base != nil {
		had, before = locker.ParseLock(file, base)
	}
	dependencies, err := locker.ParseLock(file, text)
	if err != nil && (isWritten || before == nil) { // manually written files may have had the error before
		return err.Error()
	}
	known := map[company.Dependency]bool{}
	for _, d := range had {
		known[d] = true
	}
	for _, dependency := range dependencies {
		if _, served := findRegistry[ecosystem.Client](dependency.Ecosystem); !served || known[dependency] {
			continue
		}
		if err := CheckName(canonicalDependency(dependency)); err != nil {
			return fmt.Sprintf("%.200q of the version %.100q: %v", dependency.Name, dependency.Version, err)
		}
	}
	return ""
}

// explainTop describes a setting for all packages in a lock file that none of the base's lock files has, or returns
// "".
func explainTop(e ecosystem.Locker, file string, text []byte, base map[string][]byte) string {
	teller, ok := e.(ecosystem.SourceTeller)
	if !ok {
		return ""
	}
	known := map[string]bool{"": true}
	for _, s := range parseSources(teller, base) {
		known[s.From] = true
	}
	for _, source := range teller.ParseSources(file, text) {
		if source.Dependency.Name == "" && !known[source.From] {
			return fmt.Sprintf("it says of all packages what no lock file of the base says, "+
				"as of an index or in an unknown field: %.500s", source.From)
		}
	}
	return ""
}
