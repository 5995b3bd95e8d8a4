// A place for the first file of this folder.
