// Package localfiles holds the parts that all drivers with a folder share: the
// lock that keeps other processes off the folder, and the blobs. Two drivers on one
// folder exclude each other, and both find the same blobs in it. Room preallocates
// space for files that are synced after each write. The package does not know
// records and items.
//
//	blobs/packs/00000001.pack    small blobs, which share writes and syncs (decision 0173)
//	blobs/packs/00000001.index   the offsets of the blobs in a full pack
//	blobs/ab/cdef…               a large blob, or a blob of a version without packs
//	blobs/tmp/                   unfinished large blobs
package localfiles
