// Package localfiles holds what the drivers of the bus that keep a folder have
// alike: the lock that keeps a second process off it, and the blobs. It promises
// that two drivers on one folder exclude each other, and that both find the same
// blobs in it. Room is how files grow that are synced after each write. The package knows
// nothing of records and items.
//
//	blobs/packs/00000001.pack    small blobs, which share writes and syncs (decision 0173)
//	blobs/packs/00000001.index   where those of a full pack are
//	blobs/ab/cdef…               a large blob, or one of a version before packs
//	blobs/tmp/                   large blobs that are not whole yet
package localfiles
