package gitops

import (
	"strconv"
	"strings"

	"company/internal/gitexec"
)

// strictFsck refuses in transferred objects what git only notes by default:
// the special files as symlinks make git follow a link out of the tree.
func strictFsck() []gitexec.Setting {
	var out []gitexec.Setting
	for _, side := range []string{"fetch", "receive"} {
		for _, id := range []string{"gitattributesSymlink", "gitignoreSymlink", "mailmapSymlink"} {
			out = append(out, gitexec.Setting{side + ".fsck." + id, "error"})
		}
	}
	return out
}

// historyFsck lets old blemishes of the operator's own history pass. Strict
// fsck turns warnings into errors, and many honest repositories carry commits
// by tools that wrote odd dates, zones or modes long ago. What a worker makes
// anew is held to the strict rules.
func historyFsck() []gitexec.Setting {
	var out []gitexec.Setting
	for _, id := range []string{
		"badTimezone", "badDate", "badDateOverflow", "zeroPaddedDate", "missingSpaceBeforeDate",
		"badEmail", "missingEmail", "missingSpaceBeforeEmail", "badName", "missingNameBeforeEmail",
		"zeroPaddedFilemode", "nullSha1", "emptyName", "fullPathname", "hasDot", "hasDotdot", "hasDotgit",
		"gitmodulesUrl", "gitmodulesName", "gitmodulesPath", "gitmodulesUpdate", "gitmodulesParse", "gitmodulesBlob",
		"gitmodulesMissing", "gitmodulesSymlink",
	} {
		// emptyName, fullPathname, hasDot… are kept to a warning as well:
		// the base is data to us, we never check it out.
		out = append(out, gitexec.Setting{"fetch.fsck." + id, "warn"})
	}
	return out
}

// serveConfig is what pack processes get that work for a container.
func (s *Store) serveConfig() []gitexec.Setting {
	return append(strictFsck(), []gitexec.Setting{
		{"core.hooksPath", s.hooksDir()},
		{"http.receivepack", "true"},
		{"http.getanyfile", "false"},
		{"receive.maxInputSize", strconv.Itoa(MaxPushBytes)},
		{"receive.unpackLimit", "1"},
		{"receive.denyDeletes", "true"},
		{"receive.shallowUpdate", "false"},
		// A process that would find nothing to collect.
		{"receive.autogc", "false"},
		// Those of the alternate are the repository's own, which are asked for anyway.
		{"core.alternateRefsCommand", "true"},
		// One file less to write and to sync; git makes it in memory.
		{"pack.writeReverseIndex", "false"},
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

// shellQuote quotes s for the shell that git hands GIT_SSH_COMMAND to.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
