package office

import (
	"slices"

	"golang.org/x/sys/unix"
)

// fileSystemType returns the type of the network's file system that contains a folder. It returns "" for a local one.
func fileSystemType(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	kind := unix.ByteSliceToString(st.Fstypename[:])
	if slices.Contains([]string{"nfs", "smbfs", "afpfs", "webdav"}, kind) {
		return kind
	}
	return ""
}
