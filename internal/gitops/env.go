package gitops

import (
	"strconv"
	"strings"

	"company/internal/company"
)

// EmptyTree is the object id of the tree without entries.
const EmptyTree company.OID = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// setting is one git configuration value, as GIT_CONFIG_KEY_n and _VALUE_n.
type setting struct{ key, value string }

// strictFsck refuses in transferred objects what git only notes by default:
// the special files as symlinks make git follow a link out of the tree.
func strictFsck() []setting {
	var out []setting
	for _, side := range []string{"fetch", "receive"} {
		for _, id := range []string{"gitattributesSymlink", "gitignoreSymlink", "mailmapSymlink"} {
			out = append(out, setting{side + ".fsck." + id, "error"})
		}
	}
	return out
}

// historyFsck lets old blemishes of the operator's own history pass. Strict
// fsck turns warnings into errors, and many honest repositories carry commits
// by tools that wrote odd dates, zones or modes long ago. What a worker makes
// anew is held to the strict rules.
func historyFsck() []setting {
	var out []setting
	for _, id := range []string{
		"badTimezone", "badDate", "badDateOverflow", "zeroPaddedDate", "missingSpaceBeforeDate",
		"badEmail", "missingEmail", "missingSpaceBeforeEmail", "badName", "missingNameBeforeEmail",
		"zeroPaddedFilemode", "nullSha1", "emptyName", "fullPathname", "hasDot", "hasDotdot", "hasDotgit",
		"gitmodulesUrl", "gitmodulesName", "gitmodulesPath", "gitmodulesUpdate", "gitmodulesParse", "gitmodulesBlob",
		"gitmodulesMissing", "gitmodulesSymlink",
	} {
		// emptyName, fullPathname, hasDot… are kept to a warning as well:
		// the base is data to us, we never check it out.
		out = append(out, setting{"fetch.fsck." + id, "warn"})
	}
	return out
}

// hardenedConfig is the configuration that every git child of ours gets
// (docs/threats.md). dir is the repository's absolute git directory.
func hardenedConfig(dir string) []setting {
	return []setting{
		{"safe.directory", dir},
		{"safe.bareRepository", "explicit"},
		{"core.hooksPath", "/dev/null"},
		{"core.fsmonitor", "false"},
		{"core.attributesFile", "/dev/null"},
		{"attr.tree", string(EmptyTree)}, // git 2.43 and later read HEAD's attributes otherwise
		{"core.protectHFS", "true"},
		{"core.protectNTFS", "true"},
		{"credential.helper", ""},
		{"fetch.recurseSubmodules", "false"},
		{"transfer.bundleURI", "false"},
		{"gc.auto", "0"},
		{"maintenance.auto", "false"},
		{"merge.directoryRenames", "false"},
		{"transfer.fsckObjects", "true"},
		{"fetch.fsckObjects", "true"},
		{"receive.fsckObjects", "true"},
	}
}

// serveConfig is what pack processes get that work for a container.
func (s *Store) serveConfig() []setting {
	return append(strictFsck(), []setting{
		{"core.hooksPath", s.hooksDir()},
		{"http.receivepack", "true"},
		{"http.getanyfile", "false"},
		{"receive.maxInputSize", strconv.Itoa(MaxPushBytes)},
		{"receive.unpackLimit", "1"},
		{"receive.denyDeletes", "true"},
		{"receive.shallowUpdate", "false"},
		{"receive.denyCurrentBranch", "refuse"},
		// Blobs over the limit are streamed instead of held in memory.
		{"core.bigFileThreshold", "16m"},
		// Keeps the mapped windows of a large seed under the address
		// space limit of the pack processes.
		{"core.packedGitLimit", "512m"},
		// The other end is a pipe on this machine: looking for smaller deltas
		// costs more time than the bytes do. Those at hand are sent as they are.
		{"pack.window", "0"},
	}...)
}

// buildEnv builds the whole environment of one git child. Nothing of our
// own environment gets in.
func (s *Store) buildEnv(c call) []string {
	global := c.global
	if global == "" {
		global = s.globalConfig()
	}
	ssh := "/bin/false"
	settings := append(hardenedConfig(c.dir), c.config...)
	if c.access.overSSHNow() {
		ssh = c.access.sshCommand()
	}
	if c.access.needsCredential() {
		settings = append(settings, setting{"credential.helper", "!" + shellQuote(s.helperPath())})
	}
	env := []string{
		"PATH=/usr/bin:/bin",
		"HOME=" + s.homeDir(),
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + global,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS=/bin/false",
		"GIT_SSH_COMMAND=" + ssh,
		"GIT_SSH_VARIANT=ssh",
		"GIT_LITERAL_PATHSPECS=1",
		"GIT_CEILING_DIRECTORIES=/",
		"GIT_ALLOW_PROTOCOL=" + c.protocols,
	}
	if c.access != nil && c.access.host != "" {
		env = append(env, s.cfg.OperatorEnv...)
	}
	env = append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(settings)))
	for i, kv := range settings {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv.key, "GIT_CONFIG_VALUE_"+n+"="+kv.value)
	}
	return append(env, c.env...)
}

// shellQuote quotes s for the shell that git hands GIT_SSH_COMMAND to.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
