package office

import "golang.org/x/sys/unix"

// networkTypes holds the types of file systems of the network, by the number that statfs returns (statfs(2)).
var networkTypes = map[uint32]string{
	unix.NFS_SUPER_MAGIC:   "nfs",
	unix.SMB_SUPER_MAGIC:   "smb",
	unix.CIFS_SUPER_MAGIC:  "cifs",
	unix.SMB2_SUPER_MAGIC:  "smb2",
	unix.AFS_SUPER_MAGIC:   "afs",
	unix.AFS_FS_MAGIC:      "afs",
	unix.CODA_SUPER_MAGIC:  "coda",
	unix.NCP_SUPER_MAGIC:   "ncp",
	unix.CEPH_SUPER_MAGIC:  "ceph",
	unix.OCFS2_SUPER_MAGIC: "ocfs2",
	unix.V9FS_MAGIC:        "9p",
}

// fileSystemType returns the type of the network's file system that contains a folder. It returns "" for a local one.
func fileSystemType(dir string) string {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return ""
	}
	return networkTypes[uint32(st.Type)]
}
