// Package localfiles holds the parts that all drivers with a folder share: the
// lock that keeps other processes off the folder, and the blobs. Two drivers on one
// folder exclude each other, and both find the same blobs in it. The package does not
// know records and items.
//
//	blobs/ab/cdef…    a blob
//	blobs/tmp/        unfinished blobs
package localfiles
