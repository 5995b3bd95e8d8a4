// The non-template code of Asio and Beast, compiled here once (see cmake/MarginBoost.cmake).
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
